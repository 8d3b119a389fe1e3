import { DomainError } from '../../platform/errors/domain-error.js';

/** Does something with the field `run`: the issues of invalid input begin with it. @throws what `work` throws */
export async function ofRun<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'BAD_REQUEST') throw error;
    const issues = error.issues?.map(({ message, field }) =>
      field === undefined ? `run.${message}` : { message: `run.${message}`, field: `run.${field}` },
    );
    throw new DomainError('BAD_REQUEST', error.message, issues, { cause: error });
  }
}

/** Why a run was not started, one sentence each. */
export const reasonsOf = ({ message, issues = [] }: DomainError): string[] =>
  issues.length > 0 ? issues.map((issue) => issue.message) : [message];
