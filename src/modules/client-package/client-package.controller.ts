import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { Controller, Get, Req, Res, StreamableFile } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../platform/access/access.decorators.js';
import { notFound } from '../../platform/errors/domain-error.js';
import { PROJECT_ROOT } from '../../platform/project-root.js';

const FILE = path.join(PROJECT_ROOT, 'dist/client.tgz');

interface Package {
  readonly bytes: Buffer;
  /** Strong entity tag: equal sources are built to equal bytes. */
  readonly etag: string;
  /** Hash of the client, from its package.json; an installed client compares it with its own. */
  readonly build: string | undefined;
}

/** The npm package with the `vat` command, so that the version of the command always fits the service. */
@ApiExcludeController()
@Public()
@Controller()
export class ClientPackageController {
  private package: Promise<Package> | undefined;

  @Get('client.tgz')
  async getPackage(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile | undefined> {
    const { bytes, etag, build } = await this.read();
    if (build !== undefined) response.setHeader('X-Client-Build', build);
    // Private, because a response carries the rate-limit headers of its client.
    response.setHeader('ETag', etag).setHeader('Cache-Control', 'private, no-cache');
    if (request.fresh) {
      response.status(304);
      return undefined;
    }
    return new StreamableFile(bytes, { type: 'application/gzip', length: bytes.length });
  }

  /** Reads the package once. @throws DomainError NOT_FOUND if it has not been built */
  private read(): Promise<Package> {
    this.package ??= readPackage();
    // An operator may build it while the service runs.
    this.package.catch(() => (this.package = undefined));
    return this.package;
  }
}

const gunzip = promisify(zlib.gunzip);

async function readPackage(): Promise<Package> {
  // Missing only if `npm run build` has not been run.
  if (!existsSync(FILE)) throw notFound();
  const bytes = await readFile(FILE);
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  // A tar archive contains its files verbatim.
  const build = /^ {2}"build": "([0-9a-f]{12})"$/m.exec((await gunzip(bytes)).toString('latin1'))?.[1];
  return { bytes, etag, build };
}
