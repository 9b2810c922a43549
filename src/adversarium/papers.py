"""The five papers: keys, titles, BibTeX."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper that the laboratory checks."""

    key: str
    title: str
    authors: str
    note: str

    @property
    def tag(self) -> str:
        """The first part of its claims' ids."""
        return self.key.lower()

    @property
    def bibtex(self) -> str:
        """A BibTeX entry."""
        return (
            f"@misc{{{self.tag},\n  title = {{{self.title}}},\n"
            f"  author = {{{self.authors}}},\n  note = {{{self.note}}}\n}}"
        )


PAPERS = {
    paper.key: paper
    for paper in (
        Paper(
            "CGRO",
            "Why Clean Generalization and Robust Overfitting Both Happen in Adversarial Training",
            "Anonymous",
            "manuscript under double-blind review",
        ),
        Paper(
            "CGRM",
            "Why Clean Generalization and Robust Memorization Both Happen in Adversarial Training",
            "Anonymous",
            "manuscript under review; the earlier version of CGRO",
        ),
        Paper(
            "RNRF",
            "Adversarial Training Can Provably Improve Robustness: Theoretical Analysis of Feature "
            "Learning Process Under Structured Data",
            "Li, Binghui and Li, Yuanzhi",
            "manuscript",
        ),
        Paper(
            "BOAT",
            "Benign Overfitting in Adversarial Training of Neural Networks",
            "Wang, Yunjuan and Zhang, Kaibo and Arora, Raman",
            "International Conference on Machine Learning, 2024",
        ),
        Paper(
            "CONV",
            "Convergence of Adversarial Training in Overparametrized Neural Networks",
            "Gao, Ruiqi and Cai, Tianle and Li, Haochuan and Wang, Liwei and Hsieh, Cho-Jui and "
            "Lee, Jason D.",
            "manuscript, version of December 2021",
        ),
    )
}


def paper_of(claim_id: str) -> Paper:
    """The paper that a claim or experiment id belongs to (its first part names it)."""
    return PAPERS[claim_id.split(".")[0].upper()]
