"""The cubic network's identities are exact, and fail if a part is built incorrectly."""

from dataclasses import replace

import torch

from adversarium.attacks import GTA
from adversarium.data import PatchData
from adversarium.papers.cgro.theory import cubic
from adversarium.rng import normal, stream, uniform

PARTS = dict(data=PatchData(d=12, P=3, alpha=2.0, sigma=0.3), n=6, m=3, gamma=0.9)


def test_margins_attack_gradient_and_reduced_dynamics_are_exact():
    rows = cubic.cubic_identities(stream(0, "trial"), **PARTS)
    assert rows["decomposition"] < 1e-12 and rows["attack"] < 1e-12
    assert rows["signed_gradient"] < 1e-10 and rows["reduced"] < 1e-12


def test_the_printed_gradient_lacks_the_labels():
    assert cubic.cubic_identities(stream(0, "trial"), **PARTS)["printed_gradient"] > 1e-3


def test_half_an_attack_breaks_the_identities(monkeypatch):
    half = lambda x, signal, gamma, whole=cubic.gta: whole(x, signal, gamma / 2)
    monkeypatch.setattr(cubic, "gta", half)
    rows = cubic.cubic_identities(stream(0, "trial"), **PARTS)
    assert rows["decomposition"] > 1e-3 and rows["attack"] > 1e-3


def test_reduced_dynamics_against_half_the_attack_end_elsewhere(monkeypatch):
    whole = cubic._last_weights

    def weaker(name, setting):
        half = replace(setting, attack=GTA(gamma=0.45))
        return whole(name, half if name == "signal_noise" else setting)

    monkeypatch.setattr(cubic, "_last_weights", weaker)
    assert cubic.cubic_identities(stream(0, "trial"), **PARTS)["reduced"] > 1e-6


def test_a_cubic_form_of_normals_is_seldom_near_zero():
    rows = cubic.cubic_form(stream(0, "trial"), d=12, draws=4000)
    assert 1 < rows["share"] <= 1.26  # a cube of one Gaussian, the tightest, has 1.253


def test_a_cubic_form_of_numbers_that_are_mostly_zero_is_often_near_zero(monkeypatch):
    def mostly_zero(shape, rng):
        rows = uniform((shape[0], *[1] * (len(shape) - 1)), rng) < 0.2
        return torch.where(rows, normal(shape, rng), 0.0)

    monkeypatch.setattr(cubic, "normal", mostly_zero)
    assert cubic.cubic_form(stream(0, "trial"), d=12, draws=4000)["share"] > 1.4
