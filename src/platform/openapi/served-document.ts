import { createRequire } from 'node:module';
import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';

/** The text of `openapi.json`, as it is committed and served. */
export const documentText = (document: OpenAPIObject): string => `${JSON.stringify(document, null, 2)}\n`;

/** The OpenAPI document as served; built on the first request, because building it would delay every start. */
@Injectable()
export class ServedDocument {
  private build: (() => OpenAPIObject) | undefined;
  private document: OpenAPIObject | undefined;
  private texts: { json?: string; yaml?: string } = {};

  /** Sets the function that builds the document from the complete application. */
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
    if (!this.build) throw new Error('ServedDocument.describe has not been called');
    return (this.document ??= this.build());
  }
}

/** Loads the library on first use: most processes never serve YAML. */
function yamlText(document: OpenAPIObject): string {
  const { stringify } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  return stringify(document, { aliasDuplicateObjects: false });
}
