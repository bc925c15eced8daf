#!/bin/sh
# Moves writes from PRIMARY to STANDBY, asking before each step: switch.sh [--fenced] PRIMARY STANDBY
# Status: 0 done, 1 answered no or a step failed, 2 wrong use, 3 primary not reachable, 4 standby behind.
set -eu

fenced=no
if [ "${1:-}" = "--fenced" ]; then fenced=yes; shift; fi
if [ $# -ne 2 ]; then echo "use: switch.sh [--fenced] PRIMARY STANDBY" >&2; exit 2; fi
primary=$1
standby=$2

ask() {
  printf '%s [yes/no] ' "$1"
  read -r answer
  [ "$answer" = "yes" ] || { echo "Stopped. Nothing after this step was done."; exit 1; }
}

query() { psql --no-psqlrc --tuples-only --no-align --host "$1" --command "$2"; }

if [ "$fenced" = no ]; then
  query "$primary" "SELECT 1" >/dev/null 2>&1 || { echo "$primary does not answer. Fence it first." >&2; exit 3; }
  until [ "$(query "$primary" "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'
      AND xact_start < now() - interval '30 seconds'")" = 0 ]; do
    echo "Waiting for long transactions on $primary"
    sleep 5
  done
  ask "Stop $primary?"
  position=$(query "$primary" "SELECT pg_current_wal_flush_lsn()")
  # The stop ends with a checkpoint record, so the standby must reach at least `position`.
  ssh -- "$primary" 'pg_ctl stop -m fast'
  sleep 2
  behind=$(query "$standby" "SELECT pg_wal_lsn_diff('$position', pg_last_wal_replay_lsn())::bigint")
  [ "$behind" -le 0 ] || { echo "$standby is $behind bytes behind $primary." >&2; exit 4; }
else
  ask "Has a second person confirmed that $primary is fenced?"
fi

ask "Promote $standby?"
query "$standby" "SELECT pg_promote(wait => true, wait_seconds => 60)" | grep -qx t
query "$standby" "SELECT pg_is_in_recovery()" | grep -qx f
echo "$standby accepts writes. Point the pooler at it and resume."
