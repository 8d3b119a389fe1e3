-- At most 10^8 (27 hours), although the service may have been stopped for weeks: sums stay in the range of integers.
CREATE FUNCTION capacity_wait_ms(since timestamptz) RETURNS integer LANGUAGE sql VOLATILE AS $$
  SELECT least(coalesce(round(extract(epoch FROM clock_timestamp() - since) * 1000), 0), 100000000)::integer $$;
