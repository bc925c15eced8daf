#!/bin/sh
# Prints one line for each standby of the primary that PGHOST names: name, state, lag in bytes, lag in seconds.
# Reads only. Connection and credentials come from the PG* environment variables.
set -eu

psql --no-psqlrc --tuples-only --no-align --field-separator=' ' --command "
  SELECT application_name,
         state,
         pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint,
         coalesce(round(extract(epoch FROM replay_lag)::numeric, 1), 0)
  FROM pg_stat_replication
  ORDER BY 3, 1;"
