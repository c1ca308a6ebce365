PRAGMA application_id = 1752133221;
PRAGMA user_version = 1;
CREATE TABLE artifact (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  model INTEGER NOT NULL REFERENCES model (id),
  device INTEGER NOT NULL REFERENCES device (id),
  context TEXT NOT NULL,
  path TEXT NOT NULL,
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  created TEXT NOT NULL
) STRICT;
CREATE TABLE decision (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  workload INTEGER NOT NULL REFERENCES workload (id),
  device INTEGER NOT NULL REFERENCES device (id),
  context TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environment (id),
  trial INTEGER REFERENCES trial (id),
  verdict TEXT NOT NULL CHECK (verdict IN ('gain', 'no gain', 'ambiguous', 'not measured')),
  default_ns REAL NOT NULL,
  best_ns REAL NOT NULL,
  ratio REAL NOT NULL,
  ratio_low REAL NOT NULL,
  ratio_high REAL NOT NULL,
  created TEXT NOT NULL,
  CHECK (trial IS NOT NULL OR verdict = 'not measured')
) STRICT;
CREATE TABLE device (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  name TEXT NOT NULL,
  facts TEXT NOT NULL,
  created TEXT NOT NULL
) STRICT;
CREATE TABLE environment (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  cpu TEXT NOT NULL,
  hone_version TEXT NOT NULL,
  halide_version TEXT NOT NULL,
  os TEXT NOT NULL,
  harness TEXT NOT NULL,
  transport TEXT NOT NULL,
  created TEXT NOT NULL
) STRICT;
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  device TEXT NOT NULL,
  context TEXT NOT NULL,
  seed TEXT NOT NULL,
  strategy TEXT NOT NULL,
  command TEXT NOT NULL,
  started TEXT NOT NULL,
  pid INTEGER,
  process_start INTEGER,
  boot TEXT,
  finished TEXT,
  outcome TEXT,
  UNIQUE (model, device, context, seed, strategy),
  CHECK ((pid IS NULL) = (process_start IS NULL) AND (pid IS NULL) = (boot IS NULL)),
  CHECK ((finished IS NULL) = (outcome IS NULL))
) STRICT;
CREATE TABLE model (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  shapes TEXT NOT NULL,
  created TEXT NOT NULL
) STRICT;
CREATE TABLE model_run (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  model INTEGER NOT NULL REFERENCES model (id),
  variant TEXT NOT NULL,
  device INTEGER NOT NULL REFERENCES device (id),
  context TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environment (id),
  batch INTEGER NOT NULL,
  created TEXT NOT NULL,
  best_ns REAL,
  evidence TEXT NOT NULL CHECK (evidence IN ('timed', 'emulated', 'modelled')),
  threads INTEGER NOT NULL,
  cold_weights INTEGER NOT NULL CHECK (cold_weights IN (0, 1)),
  calls_per_sample INTEGER NOT NULL,
  involuntary_switches INTEGER NOT NULL,
  load_average REAL NOT NULL,
  frequency_ghz REAL,
  scratch_bytes INTEGER,
  cpu_ns BLOB NOT NULL,
  wall_ns BLOB NOT NULL
) STRICT;
CREATE TABLE model_task (
  id INTEGER PRIMARY KEY,
  model INTEGER NOT NULL REFERENCES model (id) ON DELETE CASCADE,
  workload INTEGER NOT NULL REFERENCES workload (id),
  count INTEGER NOT NULL CHECK (count > 0),
  nodes TEXT NOT NULL,
  UNIQUE (model, workload)
) STRICT;
CREATE TABLE roof (
  id INTEGER PRIMARY KEY,
  environment INTEGER NOT NULL REFERENCES environment (id),
  device INTEGER NOT NULL REFERENCES device (id),
  name TEXT NOT NULL,
  value REAL NOT NULL,
  created TEXT NOT NULL
) STRICT;
CREATE TABLE space (
  id INTEGER PRIMARY KEY,
  workload INTEGER NOT NULL REFERENCES workload (id),
  device INTEGER NOT NULL REFERENCES device (id),
  context TEXT NOT NULL,
  space TEXT NOT NULL,
  description TEXT NOT NULL,
  created TEXT NOT NULL,
  UNIQUE (workload, device, context, space)
) STRICT;
CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  job INTEGER NOT NULL REFERENCES job (id),
  sequence INTEGER NOT NULL,
  workload INTEGER NOT NULL REFERENCES workload (id),
  device INTEGER NOT NULL REFERENCES device (id),
  context TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environment (id),
  purpose TEXT NOT NULL,
  config TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'rejected_by_constraint', 'build_failed', 'build_timed_out', 'run_failed',
                                         'run_timed_out', 'wrong_result')),
  message TEXT NOT NULL,
  relative_error REAL,
  build_seconds REAL NOT NULL,
  run_seconds REAL NOT NULL,
  created TEXT NOT NULL,
  best_ns REAL,
  evidence TEXT CHECK (evidence IN ('timed', 'emulated', 'modelled')),
  threads INTEGER,
  cold_weights INTEGER CHECK (cold_weights IN (0, 1)),
  calls_per_sample INTEGER,
  involuntary_switches INTEGER,
  load_average REAL,
  frequency_ghz REAL,
  scratch_bytes INTEGER,
  cpu_ns BLOB,
  wall_ns BLOB,
  CHECK ((evidence IS NULL) = (threads IS NULL) AND (evidence IS NULL) = (cold_weights IS NULL) AND
         (evidence IS NULL) = (calls_per_sample IS NULL) AND (evidence IS NULL) = (involuntary_switches IS NULL) AND
         (evidence IS NULL) = (load_average IS NULL) AND (evidence IS NULL) = (cpu_ns IS NULL) AND
         (evidence IS NULL) = (wall_ns IS NULL))
) STRICT;
CREATE TABLE workload (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  json TEXT NOT NULL,
  summary TEXT NOT NULL,
  created TEXT NOT NULL
) STRICT;
CREATE INDEX decision_by_key ON decision (workload, context, environment);
CREATE INDEX model_run_by_model ON model_run (model, batch);
CREATE INDEX roof_by_environment ON roof (environment, device, name);
CREATE INDEX trial_by_job ON trial (job, sequence);
CREATE INDEX trial_by_key ON trial (workload, context, environment);
