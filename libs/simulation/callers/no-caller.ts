import { CallFailure } from '../timeline/failure.js';
import type { Caller } from './caller.js';

const noModel = () => Promise.reject(new CallFailure('no_language_model'));

/** Where no language model plays the caller. */
export const NO_CALLER: Caller = {
  kind: 'generated',
  next: noModel,
  ahead: noModel,
  retract: () => undefined,
};
