import { conflict } from '../../platform/errors/domain-error.js';

/** The error of an import into a workspace without room for its recording. */
export const full = () =>
  conflict(
    'The workspace keeps as much as it may (RECORDINGS_BYTES_PER_WORKSPACE); delete old runs or ask for more room',
  );
