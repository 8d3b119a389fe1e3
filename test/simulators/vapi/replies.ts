import type { ServerResponse } from 'node:http';
import type { Reply } from './assistants.js';

export const INVALID_KEY: Reply = [
  401,
  {
    message: 'Invalid Key. Hot tip, you may be using the private key instead of the public key, or vice versa.',
    error: 'Unauthorized',
    statusCode: 401,
  },
];

export const notFound = (message: string): Reply => [404, { message, error: 'Not Found', statusCode: 404 }];

export function send(
  response: ServerResponse,
  [status, value]: Reply,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}
