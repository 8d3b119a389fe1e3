// A telephone agent of OpenAI's Agents SDK on a webhook of Twilio: its transport and Twilio's own check of signatures are code
// that this project did not write. Prints what happens as lines of JSON.
//
//     node agent.mjs REALTIME_URL AUTH_TOKEN
import { createServer } from 'node:http';
import { RealtimeAgent, RealtimeSession } from '@openai/agents/realtime';
import { TwilioRealtimeTransportLayer } from '@openai/agents-extensions';
import twilio from 'twilio';
import { WebSocketServer } from 'ws';

const [realtimeUrl, authToken] = process.argv.slice(2);
const print = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);
const isSigned = (request, url, form = {}) =>
  twilio.validateRequest(authToken, request.headers['x-twilio-signature'] ?? '', url, form);

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (part) => (body += part));
  request.on('end', () => {
    const { host } = request.headers;
    const form = Object.fromEntries(new URLSearchParams(body));
    const isAccepted = isSigned(request, `http://${host}${request.url}`, form);
    print({ type: 'webhook', isAccepted });
    if (!isAccepted) return response.writeHead(403).end();
    const twiml = new twilio.twiml.VoiceResponse();
    twiml.connect().stream({ url: `wss://${host}/media` });
    response.writeHead(200, { 'Content-Type': 'text/xml' }).end(twiml.toString());
  });
});

const sockets = new WebSocketServer({ noServer: true });
server.on('upgrade', (request, socket, head) => {
  const isAccepted = isSigned(request, `wss://${request.headers.host}${request.url}`);
  print({ type: 'upgrade', isAccepted });
  if (!isAccepted) return socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
  sockets.handleUpgrade(request, socket, head, (webSocket) => void talk(webSocket));
});

async function talk(webSocket) {
  const transport = new TwilioRealtimeTransportLayer({ twilioWebSocket: webSocket });
  transport.on('*', (event) => {
    if (event.type === 'twilio_message' && event.message.event === 'mark')
      print({ type: 'mark', name: event.message.mark.name });
  });
  const send = webSocket.send.bind(webSocket);
  webSocket.send = (text, ...rest) => {
    const { event } = JSON.parse(text);
    if (event === 'clear') print({ type: 'clear' });
    return send(text, ...rest);
  };
  const session = new RealtimeSession(
    new RealtimeAgent({ name: 'Waiter', instructions: 'You answer the telephone.' }),
    { transport },
  );
  session.on('error', ({ error }) => print({ type: 'error', message: String(error?.message ?? error) }));
  await session.connect({ apiKey: 'none', url: realtimeUrl });
  print({ type: 'connected' });
}

server.listen(0, '127.0.0.1', () => print({ type: 'listening', port: server.address().port }));
