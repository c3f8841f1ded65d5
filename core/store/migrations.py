"""The schema, as the list of scripts that made it; `PRAGMA user_version` counts those a file has seen.

Never change what a script that was released leaves behind: append one. (The first two made views of sums, which the
third drops; they no longer do.) Times are UTC seconds, sizes are bytes.
"""

MIGRATIONS: tuple[str, ...] = (
    """
    -- Only what differs from its default.
    CREATE TABLE preference (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;

    -- What must survive a restart of the engine, as JSON: the volunteer's intent.
    CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

    CREATE TABLE project (
        id TEXT PRIMARY KEY,
        source TEXT NOT NULL,
        manifest TEXT,
        added_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- `secret` tells where the invite is: keyring or file; NULL if there is none.
    CREATE TABLE membership (
        project TEXT PRIMARY KEY REFERENCES project (id),
        joined_at REAL NOT NULL,
        rank INTEGER NOT NULL,
        secret TEXT CHECK (secret IN ('keyring', 'file'))
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE session (
        id INTEGER PRIMARY KEY,
        project TEXT NOT NULL,
        run_id TEXT NOT NULL,
        started_at REAL NOT NULL,
        ended_at REAL,
        end_reason TEXT
    ) STRICT;

    CREATE TABLE contribution (
        session INTEGER NOT NULL REFERENCES session (id),
        hour INTEGER NOT NULL CHECK (hour % 3600 = 0),
        seconds REAL NOT NULL,
        samples INTEGER NOT NULL,
        rounds INTEGER NOT NULL,
        failed_rounds INTEGER NOT NULL,
        epochs INTEGER NOT NULL,
        cpu_seconds REAL NOT NULL,
        gpu_seconds REAL NOT NULL,
        joules REAL,
        uploaded INTEGER NOT NULL,
        downloaded INTEGER NOT NULL,
        PRIMARY KEY (session, hour)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX contribution_by_hour ON contribution (hour);

    -- The learning curve as this volunteer saw it.
    CREATE TABLE epoch (
        project TEXT NOT NULL,
        run_id TEXT NOT NULL,
        epoch INTEGER NOT NULL,
        loss REAL,
        own_samples INTEGER NOT NULL,
        peers INTEGER NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY (project, run_id, epoch)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE notice (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        project TEXT,
        at REAL NOT NULL
    ) STRICT;
    """,
    """
    -- Empty: recorded here. Else the record that it was imported from.
    ALTER TABLE session ADD COLUMN origin TEXT NOT NULL DEFAULT '';
    -- Until when it surely ran, for one whose engine was killed.
    ALTER TABLE session ADD COLUMN seen_at REAL;
    CREATE INDEX session_by_start ON session (started_at);

    -- By hour first: what is asked for is mostly a time. NULL: an older program did not record it, or nothing tells.
    DROP VIEW IF EXISTS day;
    DROP VIEW IF EXISTS project_total;
    CREATE TABLE contribution_by_time (
        hour INTEGER NOT NULL CHECK (hour % 3600 = 0),
        session INTEGER NOT NULL REFERENCES session (id),
        seconds REAL NOT NULL,
        samples INTEGER NOT NULL,
        rounds INTEGER NOT NULL,
        failed_rounds INTEGER NOT NULL,
        epochs INTEGER NOT NULL,
        cpu_seconds REAL NOT NULL,
        gpu_seconds REAL NOT NULL,
        joules REAL,
        uploaded INTEGER NOT NULL,
        downloaded INTEGER NOT NULL,
        accepted INTEGER,
        flops REAL,
        processor_joules REAL,
        estimated_joules REAL,
        peers_met INTEGER NOT NULL DEFAULT 0,
        averaging_up INTEGER NOT NULL DEFAULT 0,
        averaging_down INTEGER NOT NULL DEFAULT 0,
        state_up INTEGER NOT NULL DEFAULT 0,
        state_down INTEGER NOT NULL DEFAULT 0,
        dht_up INTEGER NOT NULL DEFAULT 0,
        dht_down INTEGER NOT NULL DEFAULT 0,
        data_up INTEGER NOT NULL DEFAULT 0,
        data_down INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (hour, session)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO contribution_by_time (hour, session, seconds, samples, rounds, failed_rounds, epochs, cpu_seconds,
            gpu_seconds, joules, uploaded, downloaded)
        SELECT hour, session, seconds, samples, rounds, failed_rounds, epochs, cpu_seconds,
            gpu_seconds, joules, uploaded, downloaded FROM contribution;
    DROP TABLE contribution;
    ALTER TABLE contribution_by_time RENAME TO contribution;
    CREATE INDEX contribution_by_session ON contribution (session);

    -- Seconds in which contributing was wanted and was not done, by the reason that was named first.
    CREATE TABLE idle (
        origin TEXT NOT NULL,
        hour INTEGER NOT NULL CHECK (hour % 3600 = 0),
        reason TEXT NOT NULL,
        seconds REAL NOT NULL,
        PRIMARY KEY (origin, hour, reason)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE epoch_seen (
        project TEXT NOT NULL,
        run_id TEXT NOT NULL,
        epoch INTEGER NOT NULL,
        origin TEXT NOT NULL DEFAULT '',
        loss REAL,
        own_samples INTEGER NOT NULL,
        peers INTEGER NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY (project, run_id, epoch, origin)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO epoch_seen SELECT project, run_id, epoch, '', loss, own_samples, peers, at FROM epoch;
    DROP TABLE epoch;
    ALTER TABLE epoch_seen RENAME TO epoch;
    """,
    """
    -- Sums of local days, always equal to those of the hours (`core.store.days`). Days are numbered from 1970 on, and
    -- are those of the zone that `day_offset` describes: from `since` on, local time is so many seconds ahead of UTC.
    DROP VIEW IF EXISTS day;
    DROP VIEW IF EXISTS project_total;
    CREATE TABLE day_offset (since INTEGER PRIMARY KEY, seconds INTEGER NOT NULL) STRICT;
    INSERT INTO day_offset VALUES (0, 0);
    CREATE TABLE day (
        day INTEGER NOT NULL,
        project TEXT NOT NULL,
        seconds REAL NOT NULL,
        samples INTEGER NOT NULL,
        rounds INTEGER NOT NULL,
        failed_rounds INTEGER NOT NULL,
        epochs INTEGER NOT NULL,
        cpu_seconds REAL NOT NULL,
        gpu_seconds REAL NOT NULL,
        joules REAL,
        uploaded INTEGER NOT NULL,
        downloaded INTEGER NOT NULL,
        -- What was accepted, and what was computed in hours of which that is not known.
        counted INTEGER NOT NULL,
        accepted INTEGER,
        flops REAL,
        processor_joules REAL,
        estimated_joules REAL,
        peers_met INTEGER NOT NULL,
        averaging_up INTEGER NOT NULL,
        averaging_down INTEGER NOT NULL,
        state_up INTEGER NOT NULL,
        state_down INTEGER NOT NULL,
        dht_up INTEGER NOT NULL,
        dht_down INTEGER NOT NULL,
        data_up INTEGER NOT NULL,
        data_down INTEGER NOT NULL,
        PRIMARY KEY (day, project)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO day SELECT hour / 86400, project, sum(seconds), sum(samples), sum(rounds), sum(failed_rounds),
            sum(epochs), sum(cpu_seconds), sum(gpu_seconds), sum(joules), sum(uploaded), sum(downloaded),
            sum(coalesce(accepted, samples)), sum(accepted), sum(flops), sum(processor_joules), sum(estimated_joules),
            sum(peers_met), sum(averaging_up), sum(averaging_down), sum(state_up), sum(state_down), sum(dht_up),
            sum(dht_down), sum(data_up), sum(data_down)
        FROM contribution JOIN session ON session.id = contribution.session GROUP BY 1, 2;
    """,
    """
    -- Endings and notices are kinds with parameters (JSON); what older programs recorded as a sentence stays one.
    ALTER TABLE session RENAME COLUMN end_reason TO ending;
    ALTER TABLE session ADD COLUMN ending_params TEXT;
    UPDATE session SET ending = 'engine_killed' WHERE ending = 'the engine ended';
    UPDATE session SET ending = 'exported_running' WHERE ending = 'exported while it ran';
    -- Of several reasons the first.
    UPDATE session SET ending = substr(ending, 1, instr(ending, ', ') - 1)
        WHERE instr(ending, ', ') > 0 AND ending NOT GLOB '*[^a-z_, ]*';
    UPDATE session SET ending = 'recorded_text', ending_params = json_object('text', ending)
        WHERE ending GLOB '*[^a-z_]*';
    ALTER TABLE notice RENAME COLUMN text TO message;
    UPDATE notice SET message = json_object('kind', 'recorded_text', 'params', json_object('text', message));
    """,
    """
    -- Every preference in one table, as JSON: also the name, the programs and the week, which were settings, and the
    -- currency by its letters, which was a number.
    CREATE TABLE chosen (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO chosen SELECT name, json_quote(value) FROM preference WHERE name <> 'currency';
    WITH currency (number, letters) AS (
        VALUES
            (784, 'AED'), (32, 'ARS'), (36, 'AUD'), (50, 'BDT'), (975, 'BGN'), (986, 'BRL'), (124, 'CAD'),
            (756, 'CHF'), (152, 'CLP'), (156, 'CNY'), (170, 'COP'), (203, 'CZK'), (208, 'DKK'), (818, 'EGP'),
            (978, 'EUR'), (826, 'GBP'), (344, 'HKD'), (348, 'HUF'), (360, 'IDR'), (376, 'ILS'), (356, 'INR'),
            (352, 'ISK'), (392, 'JPY'), (404, 'KES'), (410, 'KRW'), (144, 'LKR'), (504, 'MAD'), (484, 'MXN'),
            (458, 'MYR'), (566, 'NGN'), (578, 'NOK'), (524, 'NPR'), (554, 'NZD'), (604, 'PEN'), (608, 'PHP'),
            (586, 'PKR'), (985, 'PLN'), (946, 'RON'), (941, 'RSD'), (643, 'RUB'), (682, 'SAR'), (752, 'SEK'),
            (702, 'SGD'), (764, 'THB'), (949, 'TRY'), (901, 'TWD'), (980, 'UAH'), (840, 'USD'), (858, 'UYU'),
            (704, 'VND'), (710, 'ZAR')
    )
    INSERT INTO chosen SELECT name, json_quote(letters) FROM preference JOIN currency ON number = value
        WHERE name = 'currency';
    INSERT INTO chosen SELECT name, json_quote(value) FROM setting WHERE name IN ('display_name', 'week');
    INSERT INTO chosen SELECT 'programs', value FROM setting WHERE name = 'awaited_programs';
    DELETE FROM setting WHERE name IN ('display_name', 'week', 'awaited_programs');
    DROP TABLE preference;
    ALTER TABLE chosen RENAME TO preference;
    """,
)
