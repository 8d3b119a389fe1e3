import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { stringify } from 'yaml';

/** The OpenAPI document as it is served; filled in when the application is complete. */
@Injectable()
export class ServedDocument {
  private document: OpenAPIObject | undefined;

  set(document: OpenAPIObject): void {
    this.document = document;
  }

  get json(): string {
    return JSON.stringify(this.document, null, 2);
  }

  get yaml(): string {
    return stringify(this.document, { aliasDuplicateObjects: false });
  }
}
