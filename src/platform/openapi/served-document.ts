import { createRequire } from 'node:module';
import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';

/** The text of `openapi.json`, as it is committed and served. */
export const documentText = (document: OpenAPIObject): string => `${JSON.stringify(document, null, 2)}\n`;

/** The OpenAPI document as it is served; put together when somebody asks for it first, for it would delay every start. */
@Injectable()
export class ServedDocument {
  private build: (() => OpenAPIObject) | undefined;
  private document: OpenAPIObject | undefined;
  private texts: { json?: string; yaml?: string } = {};

  /** Says how it is made, from the application when that is complete. */
  describe(build: () => OpenAPIObject): void {
    this.build = build;
  }

  get json(): string {
    return (this.texts.json ??= documentText(this.whole()));
  }

  get yaml(): string {
    return (this.texts.yaml ??= yamlText(this.whole()));
  }

  private whole(): OpenAPIObject {
    if (!this.build) throw new Error('Nobody has said how the OpenAPI document is made');
    return (this.document ??= this.build());
  }
}

/** The library is loaded here, as most processes are never asked for YAML. */
function yamlText(document: OpenAPIObject): string {
  const { stringify } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  return stringify(document, { aliasDuplicateObjects: false });
}
