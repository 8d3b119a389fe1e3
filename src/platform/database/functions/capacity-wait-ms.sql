CREATE FUNCTION capacity_wait_ms(since timestamptz) RETURNS integer LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(round(extract(epoch FROM clock_timestamp() - since) * 1000), 0)::integer $$;
