/** What the command ends with (docs/guides/ci.md). */
export const EXIT = {
  /** The gate is met. */
  met: 0,
  /** The gate is not met, by calls that count. */
  notMet: 1,
  /** The run could not be carried out: nothing can be said about the agent. */
  notCarriedOut: 2,
  /** Wrong usage or configuration: the same command will fail again. */
  misused: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Something that the reader can be told in a sentence, with what can be done about it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  /**
   * @param details one sentence each
   * @param cure what to do, a sentence
   */
  constructor(
    readonly exitCode: ExitCode,
    message: string,
    readonly details: readonly string[] = [],
    readonly cure?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The same command will fail again until the reader changes something. */
export const misuse = (message: string, cure?: string) => new CommandError(EXIT.misused, message, [], cure);

/** An answer of the service that is no success. */
export class RefusedError extends CommandError {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    issues: readonly string[],
  ) {
    super(exitCodeOf(status), `The service refused: ${status} ${code}: ${message}`, issues, cureOf(status));
  }
}

/** 4xx says that the request is wrong, except where it is only too early. */
function exitCodeOf(status: number): ExitCode {
  return status >= 500 || status === 408 || status === 429 ? EXIT.notCarriedOut : EXIT.misused;
}

function cureOf(status: number): string | undefined {
  switch (status) {
    case 400:
      return 'Correct the options that are named above; `vat run --help` explains them.';
    case 401:
      return 'Set VAT_API_KEY to a valid key: `npm run --silent admin -- key create` on the service makes one.';
    case 403:
      return 'The key must belong to the workspace of what is named, and have the role EDITOR to start and cancel runs.';
    case 404:
      return 'Check the identifier that was given, and that VAT_URL names the right service.';
    case 409:
      return 'Change what stands in the way, then run the command again.';
    case 429:
      return "The workspace's rate limit is used up; raise its plan or start fewer jobs at once.";
    default:
      return status >= 500 ? 'The log of the service says more.' : undefined;
  }
}

/** The service could not be reached, or not for long enough. */
export class UnreachableError extends CommandError {
  constructor(url: string, cause: unknown) {
    super(
      EXIT.notCarriedOut,
      `The service at ${url} cannot be reached: ${reasonOf(cause)}`,
      [],
      'Start the service, or set VAT_URL (or --url) to where it listens.',
      { cause },
    );
  }
}

/** Why a connection failed, in words: the cause of `fetch failed` says more than itself. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'it does not answer in time';
  const { cause } = error;
  if (cause instanceof AggregateError && cause.errors.length > 0) return reasonOf(cause.errors[0]);
  return cause instanceof Error ? reasonOf(cause) : error.message;
}
