import type { QueryResult } from 'pg';

/**
 * The rows of an answer, which lets go of them. The driver's result, which is made when the statement is sent, dies in V8's
 * old generation, where it would drag its rows along until the next full collection although nobody needs them any more:
 * 35 KB for each list of 25 agents (decision 63).
 */
export function takeRows<Row extends object>(result: QueryResult<Row>): Row[] {
  const { rows } = result;
  result.rows = [];
  result.fields = [];
  return rows;
}
