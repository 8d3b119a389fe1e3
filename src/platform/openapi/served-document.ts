import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { stringify } from 'yaml';

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
    return (this.texts.yaml ??= stringify(this.whole(), { aliasDuplicateObjects: false }));
  }

  private whole(): OpenAPIObject {
    if (!this.build) throw new Error('Nobody has said how the OpenAPI document is made');
    return (this.document ??= this.build());
  }
}
