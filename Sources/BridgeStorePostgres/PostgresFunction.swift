/// What runs in the server.
enum PostgresFunction {
  /// Performs requests in one statement, which is a transaction of its own: a host that is frozen
  /// holds no lock, and each of the requests costs no way to the server and back.
  ///
  /// The leases of all agents are locked first, in one order, so that no two hosts wait for each
  /// other; one that is free has no row, and is granted by its insertion. A write whose number was
  /// reached has been made: its answer was lost.
  static let perform = #"""
    CREATE OR REPLACE FUNCTION decoded(value text) RETURNS bytea LANGUAGE sql IMMUTABLE
      RETURN decode(value, 'base64');
    CREATE OR REPLACE FUNCTION encoded(value bytea) RETURNS text LANGUAGE sql IMMUTABLE
      RETURN translate(encode(value, 'base64'), E'\n', '');
    CREATE OR REPLACE FUNCTION milliseconds() RETURNS bigint LANGUAGE sql VOLATILE
      RETURN (extract(epoch FROM clock_timestamp()) * 1000)::bigint;

    CREATE OR REPLACE FUNCTION apply(owner text, c jsonb) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      CASE c->>'change'
      WHEN 'session' THEN
        INSERT INTO session (agent, machine, session, resume)
        VALUES (owner, c->>'machine', c->>'id', decoded(c->>'value'))
        ON CONFLICT (agent) DO UPDATE SET
          machine = excluded.machine, session = excluded.session, resume = excluded.resume;
      WHEN 'resume' THEN
        UPDATE session SET resume = decoded(c->>'value') WHERE agent = owner;
      WHEN 'commit' THEN
        INSERT INTO point (agent, effect, point) VALUES (owner, c->>'id', decoded(c->>'value'))
        ON CONFLICT (agent, effect) DO UPDATE SET point = excluded.point;
      WHEN 'send' THEN
        INSERT INTO message (agent, id, text) VALUES (owner, c->>'id', decoded(c->>'value'))
        ON CONFLICT (agent, id) DO NOTHING;
      WHEN 'delivered' THEN
        DELETE FROM message WHERE agent = owner AND id = c->>'id';
      WHEN 'approval' THEN
        INSERT INTO approval (agent, id, state, record)
        VALUES (owner, c->>'id', c->>'state', decoded(c->>'value'))
        ON CONFLICT (agent, id) DO UPDATE SET state = excluded.state, record = excluded.record;
      WHEN 'removeApproval' THEN
        DELETE FROM approval WHERE agent = owner AND id = c->>'id';
      WHEN 'close' THEN
        INSERT INTO closed (agent) VALUES (owner) ON CONFLICT (agent) DO NOTHING;
        DELETE FROM lease WHERE agent = owner;
      WHEN 'removeAgent' THEN
        DELETE FROM lease WHERE agent = owner;
        DELETE FROM closed WHERE agent = owner;
        DELETE FROM session WHERE agent = owner;
        DELETE FROM point WHERE agent = owner;
        DELETE FROM message WHERE agent = owner;
        DELETE FROM approval WHERE agent = owner;
      END CASE;
    END $$;

    CREATE OR REPLACE FUNCTION perform_one(r jsonb, writing text) RETURNS jsonb
    LANGUAGE plpgsql AS $$
    DECLARE
      held lease%ROWTYPE;
      number bigint;
    BEGIN
      CASE r->>'operation'
      WHEN 'acquire' THEN
        -- A free agent has no row that could have been locked: another host may insert it now.
        INSERT INTO lease (agent, host, fence, expires, writer, written) VALUES (
          r->>'agent', r->>'host', nextval('fence'),
          milliseconds() + (r->>'lasting')::bigint, '', 0)
        ON CONFLICT (agent) DO UPDATE SET
          host = excluded.host, fence = excluded.fence, expires = excluded.expires, writer = '',
          written = 0
          WHERE lease.host = excluded.host OR lease.expires <= milliseconds()
        RETURNING fence INTO number;
        IF number IS NOT NULL THEN RETURN jsonb_build_object('fence', number); END IF;
        RETURN jsonb_build_object('by', (SELECT host FROM lease WHERE agent = r->>'agent'));
      WHEN 'renew' THEN
        WITH renewed AS (
          UPDATE lease SET expires = milliseconds() + (r->>'lasting')::bigint
          FROM jsonb_array_elements(r->'leases') AS wanted
          WHERE agent = wanted->>'agent' AND fence = (wanted->>'fence')::bigint
          RETURNING fence)
        SELECT count(*) INTO number FROM renewed;
        RETURN jsonb_build_object('held', (
          SELECT coalesce(jsonb_agg(fence), '[]') FROM lease
          WHERE fence IN (
            SELECT (wanted->>'fence')::bigint FROM jsonb_array_elements(r->'leases') AS wanted)));
      WHEN 'release' THEN
        DELETE FROM lease WHERE agent = r->>'agent' AND fence = (r->>'fence')::bigint;
      WHEN 'write' THEN
        SELECT * INTO held FROM lease WHERE agent = r->>'agent';
        IF held.fence IS DISTINCT FROM (r->>'fence')::bigint THEN
          RETURN jsonb_build_object('by', coalesce(held.host, ''));
        END IF;
        number := (r->>'number')::bigint;
        IF held.writer = writing AND held.written >= number THEN RETURN '{}'; END IF;
        UPDATE lease SET writer = writing, written = number WHERE agent = r->>'agent';
        PERFORM apply(r->>'agent', c) FROM jsonb_array_elements(r->'changes') AS c;
      WHEN 'replace' THEN
        UPDATE approval SET state = r->>'state', record = decoded(r->>'value')
        WHERE agent = r->>'agent' AND id = r->>'id' AND state = r->>'before';
        RETURN jsonb_build_object('approval', (
          SELECT jsonb_build_object('id', id, 'state', state, 'value', encoded(record))
          FROM approval WHERE agent = r->>'agent' AND id = r->>'id'));
      WHEN 'record' THEN
        INSERT INTO outage (id, start, value)
        VALUES (r->>'id', (r->>'start')::bigint, decoded(r->>'value'))
        ON CONFLICT (id) DO UPDATE SET start = excluded.start, value = excluded.value;
      WHEN 'removeOutages' THEN
        DELETE FROM outage WHERE start < (r->>'start')::bigint;
      WHEN 'agents' THEN
        RETURN jsonb_build_object('agents', (
          SELECT coalesce(jsonb_agg(jsonb_build_object(
            'name', agent, 'host', host, 'fence', fence, 'expires', expires - milliseconds(),
            'machine', machine, 'session', session, 'resume', encoded(resume),
            'closed', is_closed)
            ORDER BY agent COLLATE "C"), '[]')
          FROM lease FULL JOIN session USING (agent)
          FULL JOIN (SELECT agent, true AS is_closed FROM closed) AS closed USING (agent)));
      WHEN 'state' THEN
        RETURN jsonb_build_object(
          'session', (
            SELECT jsonb_build_object(
              'machine', machine, 'session', session, 'resume', encoded(resume))
            FROM session WHERE agent = r->>'agent'),
          'commits', (
            SELECT coalesce(jsonb_object_agg(effect, encoded(point)), '{}')
            FROM point WHERE agent = r->>'agent'),
          'outbox', (
            SELECT coalesce(jsonb_agg(
              jsonb_build_object('id', id, 'value', encoded(text)) ORDER BY message.number), '[]')
            FROM message WHERE agent = r->>'agent'),
          'approvals', (
            SELECT coalesce(jsonb_agg(jsonb_build_object(
              'id', id, 'state', state, 'value', encoded(record)) ORDER BY approval.number), '[]')
            FROM approval WHERE agent = r->>'agent'),
          'closed', EXISTS (SELECT 1 FROM closed WHERE agent = r->>'agent'));
      WHEN 'approvals' THEN
        RETURN jsonb_build_object('approvals', (
          SELECT coalesce(jsonb_agg(jsonb_build_object(
            'agent', agent, 'id', id, 'state', state, 'value', encoded(record))
            ORDER BY approval.number), '[]')
          FROM approval WHERE state = r->>'state'));
      WHEN 'outages' THEN
        RETURN jsonb_build_object('outages', (
          SELECT coalesce(jsonb_agg(encoded(value) ORDER BY start, id COLLATE "C"), '[]')
          FROM outage WHERE start >= (r->>'start')::bigint));
      END CASE;
      RETURN '{}';
    END $$;

    CREATE OR REPLACE FUNCTION perform(requests jsonb, writing text, channel text) RETURNS jsonb
    LANGUAGE plpgsql AS $$
    DECLARE
      r jsonb;
      answers jsonb[] := '{}';
      changes boolean := false;
    BEGIN
      PERFORM 1 FROM lease WHERE agent IN (
        SELECT value->>'agent' FROM jsonb_array_elements(requests)
        UNION SELECT wanted->>'agent'
        FROM jsonb_array_elements(requests) AS request(value),
          jsonb_array_elements(request.value->'leases') AS wanted)
      ORDER BY agent FOR UPDATE;
      FOR r IN SELECT * FROM jsonb_array_elements(requests) LOOP
        answers := array_append(answers, perform_one(r, writing));
        changes := changes OR (r->>'changes_something')::boolean;
      END LOOP;
      IF changes THEN PERFORM pg_notify(channel, writing); END IF;
      RETURN to_jsonb(answers);
    END $$;
    """#
}
