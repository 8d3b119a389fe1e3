CREATE FUNCTION notify_api_keys_changed() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('api_keys_changed', '');
    RETURN NULL;
  END $$;
