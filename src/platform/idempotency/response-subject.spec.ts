import { subjectOf } from './response-subject.js';

const AGENT = '5f0c7a52-5b87-4f0e-9a43-0d6a4f2b7c11';
const RUN = '0b8d4c1e-5f63-4f0e-9a43-0d6a4f2b7c11';

describe('what a stored response is about', () => {
  it.each([
    ['a new agent', '/agents', { data: { id: AGENT } }],
    ['an agent in the path', `/agents/${AGENT}/connection/test`, { data: { ok: true } }],
    ['an agent in the path of an import', `/agents/${AGENT}/evaluations/import`, { data: { id: RUN } }],
    ['the agent of the run that is returned', `/runs/${RUN}/rerun`, { data: { id: RUN, agentId: AGENT } }],
  ])('is %s', (_, path, body) => {
    expect(subjectOf(path, body)).toEqual({ agentId: AGENT });
  });

  it('is the run in the path if the response does not name its agent', () => {
    expect(subjectOf(`/runs/${RUN}/report-links`, { data: { id: AGENT } })).toEqual({ runId: RUN });
  });

  it('is the delivery that is repeated', () => {
    const path = `/workspace/webhook-deliveries/${RUN}/redeliver`;
    expect(subjectOf(path, { data: { id: RUN } })).toEqual({ deliveryId: RUN });
  });

  it.each([
    ['/workspace/webhook-deliveries/nope/redeliver', null],
    ['/personalities', { data: { id: RUN } }],
    ['/workspace/webhooks', { message: 'Created' }],
    ['/runs/nope/cancel', null],
    ['/agents/nope/restore', { data: null }],
  ])('is neither agent nor run for POST %s', (path, body) => {
    expect(subjectOf(path, body)).toBeUndefined();
  });
});
