// The measure: what one writes by hand with Express 5 and `pg`. LOG=1 adds a line per request with pino-http.
import express from 'express';
import { admit, api, commonHeaders, faultOf, port } from './setup.mjs';
import { badRequest, notFound } from './input.mjs';

const app = express();
app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
if (process.env.LOG === '1') {
  const { pinoHttp } = await import('pino-http');
  app.use(pinoHttp({ serializers: { req: ({ id, method, url }) => ({ id, method, url }) } }));
}
app.use(async (request, response, next) => {
  const setHeader = (name, value) => response.setHeader(name, value);
  commonHeaders(setHeader);
  request.caller = await admit(request.headers.authorization, request.ip, setHeader);
  next();
});
app.use(express.json({ limit: '1mb' }));

app.get('/agents', async (request, response) => {
  response.json(await api.list(request.caller, request.query));
});
app.get('/agents/:id', async (request, response) => {
  response.json(await api.get(request.caller, request.params.id));
});
app.post('/agents', async (request, response) => {
  response.status(201).json(await api.create(request.caller, request.body));
});
app.patch('/agents/:id', async (request, response) => {
  response.json(await api.update(request.caller, request.params.id, request.body));
});
app.use(() => {
  throw notFound();
});
// Express tells an error handler by its four parameters.
app.use((error, request, response, _next) => {
  const fault = error.type === 'entity.parse.failed' ? badRequest('body must be valid JSON') : faultOf(error);
  response.status(fault.status).json(fault.body);
});
app.listen(port, '127.0.0.1');
