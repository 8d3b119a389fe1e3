// The limit: no framework, only `node:http` and `pg`.
import { createServer } from 'node:http';
import { parse } from 'node:querystring';
import { admit, api, commonHeaders, faultOf, port } from './setup.mjs';
import { badRequest, notFound } from './input.mjs';

async function readJson(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw badRequest('body must be valid JSON');
  }
}

async function answer(request, setHeader) {
  const caller = await admit(request.headers.authorization, request.socket.remoteAddress, setHeader);
  const { method, url } = request;
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  if (path === '/agents') {
    if (method === 'GET') return [200, await api.list(caller, mark < 0 ? {} : parse(url.slice(mark + 1)))];
    if (method === 'POST') return [201, await api.create(caller, await readJson(request))];
  } else if (path.startsWith('/agents/')) {
    const id = path.slice('/agents/'.length);
    if (method === 'GET') return [200, await api.get(caller, id)];
    if (method === 'PATCH') return [200, await api.update(caller, id, await readJson(request))];
  }
  throw notFound();
}

createServer((request, response) => {
  const setHeader = (name, value) => response.setHeader(name, value);
  const send = (status, body) => {
    const text = JSON.stringify(body);
    response.writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
    });
    response.end(text);
  };
  commonHeaders(setHeader);
  answer(request, setHeader).then(
    ([status, body]) => send(status, body),
    (error) => {
      const fault = faultOf(error);
      send(fault.status, fault.body);
    },
  );
}).listen(port, '127.0.0.1');
