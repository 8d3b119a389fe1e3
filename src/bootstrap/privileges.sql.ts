/** What the role may create, and whether the schema of the queue is there. */
export const DATABASE_PRIVILEGES = `
  SELECT current_user AS role, current_database() AS database, coalesce(current_schema(), 'public') AS schema,
         current_schema() IS NOT NULL AS "canUseSchema",
         coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "canCreateTables",
         has_database_privilege(current_database(), 'CREATE') AS "canCreateSchemas",
         to_regnamespace($1) IS NOT NULL AS "hasQueue"`;

/** A table of the service (`$1`) or of its queue (the schema `$2`) that belongs to a role whose rights this one lacks. */
export const FOREIGN_TABLE = `
  SELECT pg_get_userbyid(c.relowner) AS owner
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'p') AND (n.nspname = $2 OR n.nspname = current_schema() AND c.relname = ANY ($1))
     AND NOT pg_has_role(c.relowner, 'USAGE')
   ORDER BY n.nspname, c.relname LIMIT 1`;
