import { Controller, Get, Header, Param, Redirect, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../access/access.decorators.js';
import { ServedDocument } from './served-document.js';
import { PAGE_POLICY, SwaggerPage } from './swagger-page.js';

/** The OpenAPI document and its Swagger page, as ordinary routes, so that they pass the guards like all others. */
@ApiExcludeController()
@Public()
@Controller()
export class DocsController {
  constructor(
    private readonly served: ServedDocument,
    private readonly page: SwaggerPage,
  ) {}

  /** Relative, so that it also works behind a proxy that adds a prefix. */
  @Redirect('docs', 302)
  @Get()
  redirectFromRoot(): void {
    // The decorator does everything.
  }

  @Header('Content-Type', 'application/json; charset=utf-8')
  @Header('Cache-Control', 'no-cache')
  @Get('openapi.json')
  getJson(): string {
    return this.served.json;
  }

  @Header('Content-Type', 'application/yaml; charset=utf-8')
  @Header('Cache-Control', 'no-cache')
  @Get('openapi.yaml')
  getYaml(): string {
    return this.served.yaml;
  }

  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Cache-Control', 'no-cache')
  @Header('Content-Security-Policy', PAGE_POLICY)
  @Get('docs')
  getPage(): string {
    return this.page.html;
  }

  /** The URLs in the page are relative to /docs. */
  @Redirect('../docs', 308)
  @Get('docs{/}')
  redirectToPage(): void {
    // The decorator does everything.
  }

  @Get('docs/:name')
  getAsset(@Param('name') name: string, @Res({ passthrough: true }) response: Response): string {
    const { type, text } = this.page.asset(name);
    // Private, because a response carries the rate-limit headers of its client.
    response.setHeader('Content-Type', type).setHeader('Cache-Control', 'private, max-age=31536000, immutable');
    return text;
  }
}
