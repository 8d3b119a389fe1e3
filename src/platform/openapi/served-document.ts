import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { dump } from 'js-yaml';

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
    return (this.texts.yaml ??= dump(this.whole(), { noRefs: true, lineWidth: -1 }));
  }

  private whole(): OpenAPIObject {
    if (!this.build) throw new Error('ServedDocument.describe has not been called');
    return (this.document ??= this.build());
  }
}
