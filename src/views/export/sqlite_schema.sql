-- SPDX-License-Identifier: GPL-2.0-or-later
-- The database of `kmemtrace export --to sqlite`, described in docs/formats/export.md. Addresses are signed 64-bit
-- numbers, and most kernel addresses are negative: printf('0x%x', address) prints them in hex, like the report views.
CREATE TABLE trace(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE event_types(id INTEGER PRIMARY KEY, system TEXT NOT NULL, name TEXT NOT NULL, allocator TEXT);
CREATE TABLE call_sites(id INTEGER PRIMARY KEY, address INTEGER NOT NULL, symbol TEXT NOT NULL, function TEXT NOT NULL);
CREATE TABLE caches(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE tasks(id INTEGER PRIMARY KEY, tid INTEGER NOT NULL, name TEXT NOT NULL);
CREATE TABLE recorder_tasks(tid INTEGER PRIMARY KEY);
CREATE TABLE gfp_flags(id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE stacks(id INTEGER PRIMARY KEY, depth INTEGER NOT NULL);
CREATE TABLE frames(stack INTEGER NOT NULL REFERENCES stacks, depth INTEGER NOT NULL, address INTEGER NOT NULL,
  symbol TEXT NOT NULL, PRIMARY KEY (stack, depth)) WITHOUT ROWID;
CREATE TABLE cpus(cpu INTEGER PRIMARY KEY, node INTEGER);
CREATE TABLE events(id INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, cpu INTEGER NOT NULL,
  task INTEGER NOT NULL REFERENCES tasks, context TEXT NOT NULL, type INTEGER NOT NULL REFERENCES event_types,
  outcome TEXT, address INTEGER, bytes_requested INTEGER, bytes_allocated INTEGER,
  call_site INTEGER REFERENCES call_sites, cache INTEGER REFERENCES caches, page_order INTEGER, migrate_type TEXT,
  gfp_flags INTEGER REFERENCES gfp_flags, node INTEGER, stack INTEGER REFERENCES stacks,
  allocation INTEGER REFERENCES allocations);
CREATE TABLE allocations(id INTEGER PRIMARY KEY, event INTEGER NOT NULL REFERENCES events, allocator TEXT NOT NULL,
  began_ns INTEGER NOT NULL, bytes_requested INTEGER NOT NULL, bytes_allocated INTEGER NOT NULL, state TEXT NOT NULL,
  live INTEGER NOT NULL, live_bytes INTEGER NOT NULL, freed_bytes INTEGER NOT NULL DEFAULT 0,
  ended_by INTEGER REFERENCES events, ended_ns INTEGER, lifetime_ns INTEGER, lifetime_from_ns INTEGER,
  cross_cpu INTEGER, cross_node INTEGER);
CREATE TABLE peaks(allocator TEXT PRIMARY KEY, peak_bytes INTEGER NOT NULL, peak_ns INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE samples(source TEXT NOT NULL, name TEXT NOT NULL, time_ns INTEGER NOT NULL, value REAL NOT NULL);

-- Each report view lists groups with the sums of their allocations. In these sums, duplicate events count once.
CREATE VIEW allocation_details AS
  SELECT a.*, e.address, e.cpu, e.context, CASE e.context WHEN 'task' THEN t.tid END AS tid,
    CASE e.context WHEN 'task' THEN t.name ELSE '[' || e.context || ']' END AS task, e.page_order, e.migrate_type,
    e.gfp_flags AS gfp_value, g.text AS gfp_text, e.node, e.stack, s.address AS call_site, s.symbol, s.function,
    c.name AS cache, f.cpu AS ended_cpu, fs.address AS ended_call_site, fs.symbol AS ended_symbol
  FROM allocations a JOIN events e ON e.id = a.event JOIN tasks t ON t.id = e.task
    LEFT JOIN gfp_flags g ON g.id = e.gfp_flags LEFT JOIN call_sites s ON s.id = e.call_site
    LEFT JOIN caches c ON c.id = e.cache LEFT JOIN events f ON f.id = a.ended_by
    LEFT JOIN call_sites fs ON fs.id = f.call_site
  WHERE a.state <> 'told-twice';
CREATE VIEW report_events AS
  SELECT t.name, count(*) AS count FROM events e JOIN event_types t ON t.id = e.type GROUP BY t.name ORDER BY count DESC;
CREATE VIEW report_totals AS
  SELECT m.*, f.frees, f.frees - CASE m.allocator WHEN 'pages' THEN NULL ELSE m.matched_frees END AS unmatched_frees,
    f.null_frees, p.peak_bytes, p.peak_ns
  FROM (SELECT allocator, {measures} FROM allocation_details GROUP BY allocator) m
    LEFT JOIN (SELECT t.allocator,
        sum(coalesce(e.outcome IN ('free', 'free-of-older', 'double-free-or-untraced'), 0)) AS frees,
        sum(coalesce(e.outcome = 'free-of-null', 0)) AS null_frees
      FROM events e JOIN event_types t ON t.id = e.type GROUP BY t.allocator) f ON f.allocator = m.allocator
    LEFT JOIN peaks p ON p.allocator = m.allocator;
CREATE VIEW report_page_orders AS
  SELECT page_order, sum(allocation) AS allocations, sum(failed) AS failed_allocations, sum(free) AS frees,
    sum(bytes) AS bytes_allocated, sum(live_bytes) AS live_bytes
  FROM (SELECT page_order, state <> 'failed' AS allocation, state = 'failed' AS failed, 0 AS free,
        CASE state WHEN 'failed' THEN 0 ELSE bytes_allocated END AS bytes, live_bytes
      FROM allocation_details WHERE allocator = 'pages'
    UNION ALL SELECT e.page_order, 0, 0, 1, 0, 0 FROM events e JOIN event_types t ON t.id = e.type
      WHERE t.allocator = 'pages' AND e.outcome IN ('free', 'free-of-older', 'double-free-or-untraced'))
  GROUP BY page_order;
CREATE VIEW report_call_sites AS
  SELECT allocator, printf('0x%x', d.call_site) AS call_site, symbol, {measures}
  FROM allocation_details d WHERE allocator IN ('slab', 'percpu') GROUP BY allocator, d.call_site ORDER BY bytes_allocated DESC;
CREATE VIEW report_stacks AS
  SELECT allocator, stack, {measures} FROM allocation_details GROUP BY allocator, stack ORDER BY bytes_allocated DESC;
CREATE VIEW report_caches AS
  SELECT cache, {measures} FROM allocation_details WHERE allocator = 'slab' GROUP BY cache ORDER BY bytes_allocated DESC;
CREATE VIEW report_tasks AS
  SELECT allocator, tid, task, {measures} FROM allocation_details GROUP BY allocator, tid, task
  ORDER BY bytes_allocated DESC;
CREATE VIEW report_comms AS
  SELECT allocator, task, {measures} FROM allocation_details GROUP BY allocator, task ORDER BY bytes_allocated DESC;
CREATE VIEW report_sizes AS
  SELECT allocator, bytes_allocated AS size, {measures} FROM allocation_details GROUP BY allocator, size;
CREATE VIEW report_requested_sizes AS
  SELECT allocator, bytes_requested AS size, {measures} FROM allocation_details GROUP BY allocator, size;
CREATE VIEW report_migrate_types AS
  SELECT migrate_type, {measures} FROM allocation_details WHERE allocator = 'pages' GROUP BY migrate_type;
CREATE VIEW report_gfp_flags AS
  SELECT allocator, gfp_value, gfp_text, {measures} FROM allocation_details GROUP BY allocator, gfp_value;
CREATE VIEW report_nodes AS
  SELECT allocator, node, {measures} FROM allocation_details GROUP BY allocator, node;
CREATE VIEW report_cpus AS
  SELECT allocator, cpu, {measures} FROM allocation_details GROUP BY allocator, cpu;
CREATE VIEW report_contexts AS
  SELECT allocator, context, {measures} FROM allocation_details GROUP BY allocator, context;
-- pages_freed_twice counts only frees whose pages had all been freed before. A report also counts frees in which only
-- some of the pages had been freed before. Double frees by the recorder's tasks are not counted, because a recording
-- contains their frees, but not their allocations.
CREATE VIEW report_anomalies AS
  SELECT CASE WHEN e.outcome = 'free-of-older' THEN 'allocated_before_trace'
      WHEN e.outcome = 'impossible-order' THEN 'impossible_order'
      WHEN t.allocator = 'pages' THEN 'pages_freed_twice' ELSE 'double_free_or_untraced_allocation' END AS kind,
    count(*) AS count
  FROM events e JOIN event_types t ON t.id = e.type JOIN tasks ON tasks.id = e.task
  WHERE e.outcome = 'impossible-order'
    OR e.outcome = 'double-free-or-untraced'
      AND NOT (e.context = 'task' AND tasks.tid IN (SELECT tid FROM recorder_tasks))
    OR e.outcome = 'free-of-older' AND t.allocator <> 'pages' GROUP BY kind
  UNION ALL SELECT CASE e.outcome WHEN 'allocation' THEN 'allocation_on_live_pointer' ELSE 'free_before_allocation' END
      AS kind, count(*)
  FROM allocations a JOIN events e ON e.id = a.ended_by WHERE a.state = 'replaced' AND a.allocator <> 'pages' GROUP BY kind
  UNION ALL SELECT 'allocated_less_than_requested', count(*) FROM allocations
  WHERE allocator = 'slab' AND state <> 'failed' AND bytes_allocated < bytes_requested HAVING count(*) > 0;
CREATE VIEW leaks AS
  SELECT d.id, d.allocator, (SELECT value FROM trace WHERE name = 'end_ns') - d.began_ns AS age_ns, d.bytes_allocated,
    d.live_bytes, printf('0x%x', d.address) AS address, d.symbol, d.cache, d.page_order, d.tid, d.task, d.stack
  FROM allocation_details d WHERE d.live ORDER BY age_ns DESC;
CREATE VIEW lifetimes AS
  SELECT allocator, lifetime_from_ns AS from_ns, max(2, 2 * lifetime_from_ns) AS to_ns, {measures}
  FROM allocation_details WHERE state = 'freed' GROUP BY allocator, lifetime_from_ns;
CREATE VIEW cross_cpu AS
  SELECT allocator, cpu, ended_cpu AS freed_cpu, count(*) AS frees FROM allocation_details WHERE state = 'freed'
  GROUP BY allocator, cpu, ended_cpu;
CREATE VIEW cross_node AS
  SELECT d.allocator, a.node, f.node AS freed_node, count(*) AS frees
  FROM allocation_details d JOIN cpus a ON a.cpu = d.cpu JOIN cpus f ON f.cpu = d.ended_cpu WHERE d.state = 'freed'
  GROUP BY d.allocator, a.node, f.node;
CREATE VIEW wasted AS
  SELECT bytes_requested, bytes_allocated, count(*) AS allocations, sum(bytes_allocated - bytes_requested) AS bytes_wasted
  FROM allocation_details WHERE allocator = 'slab' AND state <> 'failed' GROUP BY bytes_requested, bytes_allocated
  ORDER BY bytes_wasted DESC;
