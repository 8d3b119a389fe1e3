import { Module } from '@nestjs/common';
import { DocsController } from './docs.controller.js';
import { ServedDocument } from './served-document.js';
import { SwaggerPage } from './swagger-page.js';

@Module({ controllers: [DocsController], providers: [ServedDocument, SwaggerPage], exports: [ServedDocument] })
export class OpenApiModule {}
