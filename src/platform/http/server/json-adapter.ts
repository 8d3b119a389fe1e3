import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Response } from 'express';
import { wrap } from '../responses/envelope.js';
import { expressServer } from './express-server.js';
import { SERVER_OPTIONS } from './protocol-errors.js';

/**
 * For a text of ASCII alone. Under this name of latin1 Node neither joins a long text to the headers nor makes room for
 * three bytes a character.
 */
const ONE_BYTE_EACH = 'binary';

/**
 * Nest on Express, with a short way for JSON, in the envelope of its route. Express's own looks for an entity tag, a
 * cached copy and a charset that no answer of this service has, and hands the body over as bytes, which costs a second
 * piece for the socket.
 */
export class JsonAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    this.httpServer = expressServer(this.getInstance<Express>(), SERVER_OPTIONS);
  }

  override reply(response: Response, result: unknown, statusCode?: number): unknown {
    const { envelope } = response.req;
    const body = envelope ? wrap(envelope, result, response) : result;
    const isJson = typeof body === 'object' && body !== null && !(body instanceof StreamableFile);
    if (!isJson || response.hasHeader('Content-Type')) return super.reply(response, body, statusCode);
    if (statusCode !== undefined) response.statusCode = statusCode;
    const text = JSON.stringify(body);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    const length = Buffer.byteLength(text);
    response.setHeader('Content-Length', length);
    // Node itself leaves the body out of an answer to HEAD.
    return response.end(text, length === text.length ? ONE_BYTE_EACH : 'utf8');
  }
}
