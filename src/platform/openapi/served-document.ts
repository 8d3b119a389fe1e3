import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { stringify } from 'yaml';

/** The text of `openapi.json`, as it is committed and served. */
export const documentText = (document: OpenAPIObject): string => `${JSON.stringify(document, null, 2)}\n`;

/** The OpenAPI document as it is served; filled in once, when the application is complete. */
@Injectable()
export class ServedDocument {
  private texts = { json: '', yaml: '' };

  set(document: OpenAPIObject): void {
    this.texts = { json: documentText(document), yaml: stringify(document, { aliasDuplicateObjects: false }) };
  }

  get json(): string {
    return this.texts.json;
  }

  get yaml(): string {
    return this.texts.yaml;
  }
}
