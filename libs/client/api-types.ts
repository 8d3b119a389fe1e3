import type { components } from './api.js';

export type RunDetails = components['schemas']['RunDetails'];
/** The fields of an import beside its recording. */
export type ImportedCallFields = Omit<components['schemas']['ImportCallRequest'], 'recording'>;
export type ListedRun = components['schemas']['ListedRun'];
export type CaseResult = components['schemas']['CaseResult'];
export type RunPlan = components['schemas']['RunPlan'];
export type StartRunRequest = components['schemas']['StartRunRequest'];
export type RunComparison = components['schemas']['RunComparison'];
export type RunMatrix = components['schemas']['RunMatrix'];
export type Call = components['schemas']['Call'];
export type ConnectionTest = components['schemas']['ConnectionTest'];
export type Assistant = components['schemas']['ProviderAssistant'];
export type CreateAgentRequest = components['schemas']['CreateAgentRequest'];
export type UpdateAgentRequest = components['schemas']['UpdateAgentRequest'];
export type ListAssistantsRequest = components['schemas']['ListAssistantsRequest'];
export type Connection = components['schemas']['Connection'];
export type PutConnectionRequest = components['schemas']['PutConnectionRequest'];
export type Agent = components['schemas']['Agent'];
export type Evaluation = components['schemas']['Evaluation'];
export type PromotedEvaluation = components['schemas']['PromotedEvaluation'];
export type ImportResult = components['schemas']['ImportResult'];
export type SuitePlan = components['schemas']['SuitePlan'];
export type Monitoring = components['schemas']['Monitoring'];
export type Schedule = components['schemas']['Schedule'];
export type CreatedSchedule = components['schemas']['CreatedSchedule'];
export type CreateScheduleRequest = components['schemas']['CreateScheduleRequest'];
export type UpdateScheduleRequest = components['schemas']['UpdateScheduleRequest'];
