import type { EvaluationDefinition, HistoryLine } from './definition.js';

/** What was said before the call. Definitions of runs of earlier versions have none. */
export const historyOf = ({ history = [] }: Partial<EvaluationDefinition>): readonly HistoryLine[] => history;
