import { Module } from '@nestjs/common';
import { DocsController } from './docs.controller.js';
import { ServedDocument } from './served-document.js';

@Module({ controllers: [DocsController], providers: [ServedDocument], exports: [ServedDocument] })
export class OpenApiModule {}
