import { endOf, transferOf } from './reported.js';

describe('the reason why a call ended, in the words of its platform', () => {
  it.each<[reason: string, by: string, code: string]>([
    ['customer-ended-call', 'caller', 'caller_done'],
    // VapiAI/server-sdk-typescript, CallEndedReason.
    ['customer-ended-call-before-warm-transfer', 'caller', 'caller_done'],
    ['customer-ended-call-during-transfer', 'caller', 'caller_done'],
    ['assistant-ended-call-with-hangup-task', 'agent', 'agent_hung_up'],
    ['exceeded-max-duration', 'tester', 'max_duration'],
    ['assistant-forwarded-call', 'tester', 'platform_hung_up'],
    ['silence-timed-out', 'tester', 'platform_hung_up'],
    // They do not say who hung up.
    ['voicemail', 'tester', 'recording_over'],
    ['assistant-ended-by-default', 'tester', 'recording_over'],
    ['call.in-progress.twilio-completed-call', 'tester', 'recording_over'],
    ['customer-did-not-answer', 'tester', 'recording_over'],
    // retell-sdk, disconnection_reason.
    ['user_hangup', 'caller', 'caller_done'],
    ['agent_hangup', 'agent', 'agent_hung_up'],
    ['transfer_bridged', 'tester', 'platform_hung_up'],
    ['transfer_cancelled', 'tester', 'recording_over'],
    // Payloads of ElevenLabs over the telephone, the web, and with tools.
    ['Call ended by remote party', 'caller', 'caller_done'],
    ['Remote party ended call', 'caller', 'caller_done'],
    ['Client disconnected: 1000', 'caller', 'caller_done'],
    ['end_call tool was called.', 'agent', 'agent_hung_up'],
    ['Conversation exceeded maximum duration of 600 seconds', 'tester', 'max_duration'],
    ['Call ended after 30 seconds of silence', 'tester', 'platform_hung_up'],
    // The platform, or a provider behind it, broke the call off.
    ['pipeline-error-openai-llm-failed', 'tester', 'platform_failed'],
    ['pipeline-no-available-llm-model', 'tester', 'platform_failed'],
    ['call.in-progress.error-providerfault-openai-llm-failed', 'tester', 'platform_failed'],
    ['call.in-progress.error-vapifault-worker-died', 'tester', 'platform_failed'],
    ['call.in-progress.error-warm-transfer-assistant-cancelled', 'tester', 'platform_failed'],
    ['phone-call-provider-closed-websocket', 'tester', 'platform_failed'],
    ['worker-shutdown', 'tester', 'platform_failed'],
    ['error_llm_websocket_lost_connection', 'tester', 'platform_failed'],
    ['error_asr', 'tester', 'platform_failed'],
    ['no_valid_payment', 'tester', 'platform_failed'],
    ['This request exceeds your quota limit.', 'tester', 'platform_failed'],
    ['An error occurred while generating the response', 'tester', 'platform_failed'],
  ])('%s: by the %s (%s)', (reason, by, code) => {
    expect(endOf(reason, 'transcript')).toMatchObject({ by, code });
  });

  it('says that the call was passed on', () => {
    const reasons = [
      'assistant-forwarded-call',
      'call_transfer',
      'transfer_bridged',
      'transfer_cancelled',
      'user_hangup',
    ];
    expect(reasons.filter((reason) => transferOf(reason, 7).length > 0)).toEqual(reasons.slice(0, 3));
  });
});
