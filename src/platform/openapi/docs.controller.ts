import { Controller, Get, Header } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../access/access.decorators.js';
import { ServedDocument } from './served-document.js';

/** The OpenAPI document and its Swagger page; routes of their own, so that they pass the guards like all others. */
@ApiExcludeController()
@Public()
@Controller()
export class DocsController {
  constructor(private readonly served: ServedDocument) {}

  @Header('Content-Type', 'application/json; charset=utf-8')
  @Get('openapi.json')
  getJson(): string {
    return this.served.json;
  }

  @Header('Content-Type', 'application/yaml; charset=utf-8')
  @Get('openapi.yaml')
  getYaml(): string {
    return this.served.yaml;
  }
}
