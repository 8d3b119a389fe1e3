import type { ErrorIssue } from './answers.js';

/** What a request names, for the message of a 404; some requests name two things, of which the issues say which is missing. */
export type Subject = string | ((issues: readonly ErrorIssue[]) => string);

export const agent = (id: string): string => `Agent ${id}`;
export const run = (id: string): string => `Run ${id}`;

/** Which of the runs a 404 is about: an issue about the parameter of the others names one of them. */
export const missingRun =
  (id: string, others: string | undefined): Subject =>
  (issues) => {
    const issue = issues.find(({ field }) => field === 'with');
    if (others === undefined || issue === undefined) return run(id);
    const named = others.split(',').filter((other) => other !== 'previous');
    const missing = named.find((other) => other === others || issue.message.includes(other));
    return missing === undefined ? 'An earlier run to compare with' : run(missing);
  };
