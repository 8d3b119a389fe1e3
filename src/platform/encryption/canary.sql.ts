export const INSERT = 'INSERT INTO encryption_canary (id, sealed) VALUES (1, $1) ON CONFLICT (id) DO NOTHING';
export const FIND = 'SELECT sealed FROM encryption_canary WHERE id = 1';
export const UPDATE = 'UPDATE encryption_canary SET sealed = $1 WHERE id = 1';
/** Self-exclusive; readers of the table do not wait. */
export const LOCK = 'LOCK TABLE encryption_canary IN SHARE ROW EXCLUSIVE MODE';
