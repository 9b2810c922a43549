export OMP_NUM_THREADS=1 PYTHONPATH=$PWD/src
rm -rf /tmp/a; mkdir /tmp/a; cp -r src /tmp/a/; rm -f /tmp/a/src/adversarium/results/*.gz
(
cd /tmp/a; export PYTHONPATH=/tmp/a/src
for e in $(python - <<'P'
from adversarium.plans.catalogue import experiments
print(' '.join(e for e in experiments() if e.split('.')[0] in ('cgro','cgrm','rnrf')))
P
); do a=$(date +%s.%N); taskset -c 0,1 timeout 570 python -m adversarium.runs $e --preset quick --on processes:2 --store /tmp/a/q.sqlite > /tmp/a/$e.log 2>&1; echo "$e rc=$? $(python -c "import time;print(round(time.time()-$a,1))")"; done > $OUT/audit.txt 2>&1
) &
(
for e in boat.lower boat.events boat.inequalities boat.theory; do a=$(date +%s); taskset -c 2-15 timeout 570 python -m adversarium.runs $e --preset paper --on processes:14 --store /tmp/p.sqlite --ship $OUT > /tmp/$e.log 2>&1; echo "$e rc=$? $(( $(date +%s)-a ))"; tail -2 /tmp/$e.log; done > $OUT/paper.txt 2>&1
) &
wait
cat $OUT/audit.txt $OUT/paper.txt
