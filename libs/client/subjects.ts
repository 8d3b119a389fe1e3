/** What a request names, for the message of a 404; some requests name two things, of which the issues say which is missing. */
export type Subject = string | ((issues: readonly string[]) => string);

export const agent = (id: string): string => `Agent ${id}`;
export const run = (id: string): string => `Run ${id}`;

/** Which of the runs a 404 is about: an issue begins with the parameter of the others, and names one of them. */
export const missingRun =
  (id: string, others: string | undefined): Subject =>
  (issues) => {
    const issue = issues.find((each) => /^with\b/.test(each));
    if (others === undefined || issue === undefined) return run(id);
    const named = others.split(',').filter((other) => other !== 'previous');
    const missing = named.find((other) => other === others || issue.includes(other));
    return missing === undefined ? 'An earlier run to compare with' : run(missing);
  };
