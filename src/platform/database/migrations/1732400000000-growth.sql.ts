const LOWEST = `'00000000-0000-0000-0000-000000000000'`;
const HIGHEST = `'ffffffff-ffff-ffff-ffff-ffffffffffff'`;

/** How lists are kept count of: decision 40. */
export const TABLES = `
  -- The tables whose lists are kept. A list is named after its table, or 'table:value' for one value of the facet.
  CREATE TABLE kept_lists (
    relation text NOT NULL CONSTRAINT kept_lists_pkey PRIMARY KEY,
    scope text NOT NULL,
    facet text,
    deleted text
  );
  -- How far a list is opened (writers note their changes), sealed (buckets count it) and grouped (groups do).
  CREATE TABLE list_heads (
    list text NOT NULL,
    scope uuid NOT NULL,
    opened_at timestamptz(3) NOT NULL,
    opened_id uuid NOT NULL,
    sealed_at timestamptz(3) NOT NULL DEFAULT '-infinity',
    sealed_id uuid NOT NULL DEFAULT ${LOWEST},
    grouped_at timestamptz(3) NOT NULL DEFAULT '-infinity',
    grouped_id uuid NOT NULL DEFAULT ${LOWEST},
    CONSTRAINT list_heads_pkey PRIMARY KEY (list, scope)
  );
  -- How many entries lie after the bucket before, up to and including (at, id). Level 1 sums up many of level 0.
  CREATE TABLE list_buckets (
    list text NOT NULL,
    scope uuid NOT NULL,
    level smallint NOT NULL,
    at timestamptz(3) NOT NULL,
    id uuid NOT NULL,
    count bigint NOT NULL,
    CONSTRAINT list_buckets_pkey PRIMARY KEY (list, scope, level, at, id)
  );
  -- Entries that came (1) or went (-1) where a list is opened, until they are folded into the buckets.
  CREATE TABLE list_changes (
    list text NOT NULL,
    scope uuid NOT NULL,
    at timestamptz(3) NOT NULL,
    id uuid NOT NULL,
    delta smallint NOT NULL
  );
  CREATE INDEX list_changes_idx ON list_changes (list, scope, at, id);
`;

/** What writers do: nothing for the newest entries, and for older ones a note that waits for nobody. */
export const WRITING = `
  CREATE FUNCTION keep_list(relation text, scope text, facet text DEFAULT NULL, deleted text DEFAULT NULL)
  RETURNS void LANGUAGE plpgsql AS $keep$
    DECLARE
      names text := format('VALUES (%L)', relation)
        || CASE WHEN facet IS NULL THEN '' ELSE format(', (%L || r.%I)', relation || ':', facet) END;
      live text := CASE WHEN deleted IS NULL THEN 'true' ELSE format('r.%I IS NULL', deleted) END;
      note text := format('INSERT INTO list_changes
          SELECT h.list, h.scope, r.created_at, r.id, %%s
            FROM %%s r CROSS JOIN LATERAL (%s) l (list)
            JOIN list_heads h ON h.list = l.list AND h.scope = r.%I
                             AND (r.created_at, r.id) <= (h.opened_at, h.opened_id)
           WHERE %s;', names, scope, live);
      -- An older snapshot would not see how far the list is opened.
      body text := $body$ BEGIN
          IF current_setting('transaction_isolation') <> 'read committed' THEN
            RAISE 'Tables with kept lists are written in READ COMMITTED transactions only';
          END IF;
          %s RETURN NULL;
        END $body$;
      -- Always the same plan, along the list's own index: planning costs more than the page.
      page text := $page$ CREATE FUNCTION %1$I(in_scope uuid, %2$s wanted bigint, size bigint,
          OUT total bigint, OUT tail bigint, OUT changes bigint, OUT ids uuid[])
        LANGUAGE plpgsql STABLE
        SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off AS $body$
          DECLARE
            head list_heads;
            place record;
          BEGIN
            SELECT * INTO head FROM list_heads h WHERE h.list = %3$s AND h.scope = in_scope;
            IF NOT FOUND THEN head.sealed_at := '-infinity'; head.sealed_id := ${LOWEST}; END IF;
            SELECT count(*) INTO tail FROM %4$s AND (r.created_at, r.id) > (head.sealed_at, head.sealed_id);
            SELECT * INTO place FROM list_place(head, tail, wanted);
            total := place.total; changes := place.changes;
            ids := ARRAY(
              SELECT r.id FROM %4$s AND (r.created_at, r.id) <= (place.at, place.id)
               ORDER BY r.created_at DESC, r.id DESC LIMIT size OFFSET place.skip);
          END $body$ $page$;
      source text := format('%I r WHERE r.%I = in_scope AND %s', relation, scope, live);
      keys text := format('#.created_at, #.id, #.%I', scope)
        || CASE WHEN facet IS NULL THEN '' ELSE format(', #.%I', facet) END
        || CASE WHEN deleted IS NULL THEN '' ELSE format(', #.%I IS NULL', deleted) END;
    BEGIN
      INSERT INTO kept_lists VALUES (relation, scope, facet, deleted);
      EXECUTE format(page, relation || '_list', '', quote_literal(relation), source);
      IF facet IS NOT NULL THEN
        EXECUTE format(page, relation || '_list_by', 'in_value text,', format('%L || in_value', relation || ':'),
          source || format(' AND r.%I = in_value', facet));
      END IF;
      EXECUTE format('CREATE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS %L',
        relation || '_list_added', format(body, format(note, '1', 'added')));
      EXECUTE format('CREATE TRIGGER %I AFTER INSERT ON %I REFERENCING NEW TABLE AS added
        FOR EACH STATEMENT EXECUTE FUNCTION %I()', relation || '_list_added', relation, relation || '_list_added');
      EXECUTE format('CREATE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS %L',
        relation || '_list_removed', format(body, format(note, '-1', 'removed')));
      EXECUTE format('CREATE TRIGGER %I AFTER DELETE ON %I REFERENCING OLD TABLE AS removed
        FOR EACH STATEMENT EXECUTE FUNCTION %I()', relation || '_list_removed', relation, relation || '_list_removed');
      EXECUTE format('CREATE FUNCTION %I() RETURNS trigger LANGUAGE plpgsql AS %L',
        relation || '_list_moved',
        format(body, format(note, '-1', '(SELECT OLD.*)') || format(note, '1', '(SELECT NEW.*)')));
      EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %I FOR EACH ROW WHEN ((%s) IS DISTINCT FROM (%s))
        EXECUTE FUNCTION %I()', relation || '_list_moved', relation, replace(keys, '#', 'OLD'),
        replace(keys, '#', 'NEW'), relation || '_list_moved');
      EXECUTE format('CREATE TRIGGER %I AFTER TRUNCATE ON %I
        FOR EACH STATEMENT EXECUTE FUNCTION forget_lists(%L)', relation || '_list_emptied', relation, relation);
    END $keep$;

  CREATE FUNCTION drop_list(relation text) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      EXECUTE format('DROP TRIGGER %I ON %I', relation || '_list_emptied', relation);
      EXECUTE format('DROP FUNCTION %I, %I, %I CASCADE',
        relation || '_list_added', relation || '_list_removed', relation || '_list_moved');
      EXECUTE format('DROP FUNCTION %I; DROP FUNCTION IF EXISTS %I', relation || '_list', relation || '_list_by');
      DELETE FROM kept_lists k WHERE k.relation = drop_list.relation;
    END $$;

  CREATE FUNCTION forget_lists() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM list_heads WHERE split_part(list, ':', 1) = TG_ARGV[0];
      DELETE FROM list_buckets WHERE split_part(list, ':', 1) = TG_ARGV[0];
      DELETE FROM list_changes WHERE split_part(list, ':', 1) = TG_ARGV[0];
      RETURN NULL;
    END $$;
`;

/** STABLE functions see what the statement around them sees, so all numbers of a page belong together. */
export const READING = `
  -- Where the entry lies that 'wanted' others are newer than: 'skip' entries after the newest one up to (at, id).
  -- 'tail' is how many entries are newer than the sealed ones, 'changes' how many changes are not folded.
  CREATE FUNCTION list_place(head list_heads, tail bigint, wanted bigint,
    OUT total bigint, OUT changes bigint, OUT at timestamptz, OUT id uuid, OUT skip bigint)
  LANGUAGE plpgsql STABLE AS $$
    DECLARE
      entry record;
      level smallint;
      low_at timestamptz;
      low_id uuid;
      newer bigint := tail;
    BEGIN
      total := tail; changes := 0; at := 'infinity'; id := ${HIGHEST}; skip := wanted;
      IF head.list IS NULL THEN RETURN; END IF;
      -- Newest first; a bucket before the changes in it. Last of all the place is in the last bucket that fits.
      FOR entry IN
        SELECT b.level, b.at, b.id, b.count FROM list_buckets b
         WHERE b.list = head.list AND b.scope = head.scope AND b.level = 1
        UNION ALL
        SELECT b.level, b.at, b.id, b.count FROM list_buckets b
         WHERE b.list = head.list AND b.scope = head.scope AND b.level = 0
           AND (b.at, b.id) > (head.grouped_at, head.grouped_id)
        UNION ALL
        SELECT -1, c.at, c.id, c.delta FROM list_changes c
         WHERE c.list = head.list AND c.scope = head.scope AND (c.at, c.id) <= (head.sealed_at, head.sealed_id)
        ORDER BY 2 DESC, 3 DESC, 1 DESC
      LOOP
        IF entry.level < 0 THEN
          changes := changes + 1;
        ELSIF newer <= wanted THEN
          level := entry.level; at := entry.at; id := entry.id; skip := wanted - newer;
        END IF;
        newer := newer + entry.count;
      END LOOP;
      total := newer;
      IF level IS DISTINCT FROM 1 THEN RETURN; END IF;

      newer := wanted - skip;
      SELECT b.at, b.id INTO low_at, low_id FROM list_buckets b
       WHERE b.list = head.list AND b.scope = head.scope AND b.level = 1 AND (b.at, b.id) < (list_place.at, list_place.id)
       ORDER BY b.at DESC, b.id DESC LIMIT 1;
      IF NOT FOUND THEN low_at := '-infinity'; low_id := ${LOWEST}; END IF;
      FOR entry IN
        SELECT b.level, b.at, b.id, b.count FROM list_buckets b
         WHERE b.list = head.list AND b.scope = head.scope AND b.level = 0
           AND (b.at, b.id) <= (list_place.at, list_place.id) AND (b.at, b.id) > (low_at, low_id)
        UNION ALL
        SELECT -1, c.at, c.id, c.delta FROM list_changes c
         WHERE c.list = head.list AND c.scope = head.scope
           AND (c.at, c.id) <= (list_place.at, list_place.id) AND (c.at, c.id) > (low_at, low_id)
        ORDER BY 2 DESC, 3 DESC, 1 DESC
      LOOP
        IF entry.level = 0 AND newer <= wanted THEN
          at := entry.at; id := entry.id; skip := wanted - newer;
        END IF;
        newer := newer + entry.count;
      END LOOP;
    END $$;
`;

/** Carried out by `ListKeeper`, one list at a time, while others write. */
export const SEALING = `
  -- FROM and WHERE of a list, with its scope as $1.
  CREATE FUNCTION list_source(list text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT format('FROM %I r WHERE r.%I = $1', k.relation, k.scope)
        || CASE WHEN list = k.relation THEN ''
                ELSE format(' AND r.%I = %L', k.facet, substr(list, length(k.relation) + 2)) END
        || CASE WHEN k.deleted IS NULL THEN '' ELSE format(' AND r.%I IS NULL', k.deleted) END
      FROM kept_lists k WHERE k.relation = split_part(list, ':', 1)
  $$;

  -- From its commit on writers note changes of all but the newest 'keep' entries. Answers how far it is opened.
  CREATE FUNCTION list_open(in_list text, in_scope uuid, keep integer, OUT at timestamptz, OUT id uuid)
  LANGUAGE plpgsql AS $$
    DECLARE
      head list_heads;
    BEGIN
      SELECT * INTO head FROM list_heads h WHERE h.list = in_list AND h.scope = in_scope;
      EXECUTE format('SELECT r.created_at, r.id %s AND (r.created_at, r.id) > ($2, $3)
                       ORDER BY r.created_at DESC, r.id DESC OFFSET $4 LIMIT 1', list_source(in_list))
         INTO at, id
        USING in_scope, coalesce(head.opened_at, '-infinity'), coalesce(head.opened_id, ${LOWEST}), keep;
      IF at IS NULL THEN
        at := head.opened_at; id := head.opened_id;
        RETURN;
      END IF;
      INSERT INTO list_heads AS h (list, scope, opened_at, opened_id) VALUES (in_list, in_scope, at, id)
        ON CONFLICT (list, scope) DO UPDATE SET opened_at = excluded.opened_at, opened_id = excluded.opened_id
         WHERE (h.opened_at, h.opened_id) < (excluded.opened_at, excluded.opened_id);
    END $$;

  -- Counts the next entries up to (until_at, until_id) into buckets of about 'size'. Every transaction that began to
  -- write before the list was opened that far must have ended. One statement counts, forgets the changes that it
  -- has counted and moves the boundary: it sees a writer's entry and its note together, or neither.
  -- Answers whether there is more to seal.
  CREATE FUNCTION list_seal(in_list text, in_scope uuid, until_at timestamptz, until_id uuid, size integer,
    most integer) RETURNS boolean LANGUAGE plpgsql AS $$
    DECLARE
      head list_heads;
    BEGIN
      SELECT * INTO head FROM list_heads h WHERE h.list = in_list AND h.scope = in_scope FOR UPDATE;
      IF NOT FOUND OR (head.sealed_at, head.sealed_id) >= (until_at, until_id) THEN RETURN false; END IF;
      EXECUTE format('
        WITH chunk AS MATERIALIZED (
          SELECT r.created_at, r.id %s AND (r.created_at, r.id) > ($3, $4) AND (r.created_at, r.id) <= ($5, $6)
           ORDER BY r.created_at, r.id LIMIT $8),
        numbered AS (
          SELECT created_at, id, row_number() OVER (ORDER BY created_at, id) AS n, count(*) OVER () AS rows,
                 greatest(1, round(count(*) OVER () / $7::numeric))::bigint AS buckets FROM chunk),
        ends AS MATERIALIZED (
          SELECT n = rows AS is_last, n - lag(n, 1, 0::bigint) OVER (ORDER BY n) AS count,
                 CASE WHEN n = rows AND rows < $8 THEN $5 ELSE created_at END AS at,
                 CASE WHEN n = rows AND rows < $8 THEN $6 ELSE id END AS id
            FROM numbered WHERE n * buckets / rows > (n - 1) * buckets / rows
          UNION ALL
          SELECT true, 0, $5, $6 WHERE NOT EXISTS (SELECT 1 FROM chunk)),
        filled AS (
          INSERT INTO list_buckets SELECT $2, $1, 0, at, id, count FROM ends),
        counted AS (
          DELETE FROM list_changes c USING ends e
           WHERE e.is_last AND c.list = $2 AND c.scope = $1
             AND (c.at, c.id) > ($3, $4) AND (c.at, c.id) <= (e.at, e.id))
        UPDATE list_heads h SET sealed_at = e.at, sealed_id = e.id FROM ends e
         WHERE e.is_last AND h.list = $2 AND h.scope = $1
        RETURNING h.*', list_source(in_list))
        INTO head
       USING in_scope, in_list, head.sealed_at, head.sealed_id, until_at, until_id, size, most;
      RETURN (head.sealed_at, head.sealed_id) < (until_at, until_id);
    END $$;
`;

/** Carried out by `ListKeeper` too. */
export const FOLDING = `
  -- Adds the changes to the buckets that they belong to. A list whose buckets have become too full or too empty is
  -- to be sealed anew.
  CREATE FUNCTION list_fold(in_list text, in_scope uuid, size integer) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      head list_heads;
    BEGIN
      SELECT * INTO head FROM list_heads h WHERE h.list = in_list AND h.scope = in_scope FOR UPDATE;
      IF NOT FOUND THEN RETURN; END IF;
      WITH folded AS (
        DELETE FROM list_changes c
         WHERE c.list = in_list AND c.scope = in_scope AND (c.at, c.id) <= (head.sealed_at, head.sealed_id)
        RETURNING c.at, c.id, c.delta),
      sums AS (
        SELECT b.level, b.at, b.id, sum(f.delta) AS delta
          FROM folded f CROSS JOIN (VALUES (0), (1)) l (level)
         CROSS JOIN LATERAL (SELECT b.level, b.at, b.id FROM list_buckets b
                              WHERE b.list = in_list AND b.scope = in_scope AND b.level = l.level
                                AND (b.at, b.id) >= (f.at, f.id)
                              ORDER BY b.at, b.id LIMIT 1) b
         GROUP BY b.level, b.at, b.id)
      UPDATE list_buckets b SET count = b.count + s.delta FROM sums s
       WHERE b.list = in_list AND b.scope = in_scope AND b.level = s.level AND b.at = s.at AND b.id = s.id;
      IF FOUND AND (SELECT max(b.count) > 4 * size OR count(*) > 8 + 4 * sum(b.count) / size FROM list_buckets b
                     WHERE b.list = in_list AND b.scope = in_scope AND b.level = 0) THEN
        DELETE FROM list_buckets b WHERE b.list = in_list AND b.scope = in_scope;
        UPDATE list_heads h SET sealed_at = '-infinity', sealed_id = ${LOWEST}, grouped_at = '-infinity',
               grouped_id = ${LOWEST} WHERE h.list = in_list AND h.scope = in_scope;
      END IF;
    END $$;

  -- Sums up the oldest buckets in groups of 'fanout' as long as there are twice as many.
  CREATE FUNCTION list_group(in_list text, in_scope uuid, fanout integer) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      head list_heads;
    BEGIN
      LOOP
        SELECT * INTO head FROM list_heads h WHERE h.list = in_list AND h.scope = in_scope FOR UPDATE;
        IF NOT FOUND OR (SELECT count(*) < 2 * fanout FROM list_buckets b
                          WHERE b.list = in_list AND b.scope = in_scope AND b.level = 0
                            AND (b.at, b.id) > (head.grouped_at, head.grouped_id)) THEN
          RETURN;
        END IF;
        WITH oldest AS (
          SELECT b.at, b.id, sum(b.count) OVER (ORDER BY b.at, b.id) AS count FROM list_buckets b
           WHERE b.list = in_list AND b.scope = in_scope AND b.level = 0
             AND (b.at, b.id) > (head.grouped_at, head.grouped_id)
           ORDER BY b.at, b.id LIMIT fanout),
        added AS (
          INSERT INTO list_buckets SELECT in_list, in_scope, 1, o.at, o.id, o.count FROM oldest o
           ORDER BY o.at DESC, o.id DESC LIMIT 1 RETURNING at, id)
        UPDATE list_heads h SET grouped_at = a.at, grouped_id = a.id FROM added a
         WHERE h.list = in_list AND h.scope = in_scope;
      END LOOP;
    END $$;
`;
