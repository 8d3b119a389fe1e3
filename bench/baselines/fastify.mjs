// What one writes by hand with Fastify and `pg`, answers serialised by their schema as Fastify advises.
import fastify from 'fastify';
import { admit, api, commonHeaders, faultOf, port } from './setup.mjs';
import { badRequest, notFound } from './input.mjs';

const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };
const agent = {
  type: 'object',
  properties: {
    provider: text,
    type: textOrNull,
    promptType: textOrNull,
    id: text,
    name: textOrNull,
    created_at: text,
    updated_at: text,
    apiKey: text,
    assistantId: text,
    createdByUserId: text,
    deletedAt: textOrNull,
    language: textOrNull,
    phoneNumber: textOrNull,
    prompt: textOrNull,
    workspaceId: textOrNull,
    callMonitoring: { type: 'boolean' },
    isUsingDefaultApiKey: { type: ['boolean', 'null'] },
    webhookUrl: textOrNull,
    phoneNumberId: textOrNull,
    webhookSecret: textOrNull,
  },
};
const whole = { type: 'integer' };
const meta = { type: 'object', properties: { total: whole, page: whole, limit: whole, pageCount: whole } };
const one = { schema: { response: { '2xx': { type: 'object', properties: { message: text, data: agent } } } } };
const list = {
  schema: { response: { 200: { type: 'object', properties: { meta, data: { type: 'array', items: agent } } } } },
};

const app = fastify({ bodyLimit: 1024 * 1024 });
app.decorateRequest('caller', null);
app.addHook('onRequest', async (request, reply) => {
  const setHeader = (name, value) => reply.header(name, value);
  commonHeaders(setHeader);
  request.caller = await admit(request.headers.authorization, request.ip, setHeader);
});
app.get('/agents', list, (request) => api.list(request.caller, request.query));
app.get('/agents/:id', one, (request) => api.get(request.caller, request.params.id));
app.post('/agents', one, (request, reply) => {
  reply.code(201);
  return api.create(request.caller, request.body);
});
app.patch('/agents/:id', one, (request) => api.update(request.caller, request.params.id, request.body));
app.setNotFoundHandler(() => {
  throw notFound();
});
app.setErrorHandler((error, request, reply) => {
  const isParsing = error.code === 'FST_ERR_CTP_INVALID_JSON_BODY' || error instanceof SyntaxError;
  const fault = isParsing ? badRequest('body must be valid JSON') : faultOf(error);
  reply.code(fault.status).send(fault.body);
});
await app.listen({ port, host: '127.0.0.1' });
