import { Module } from '@nestjs/common';
import { ClientPackageController } from './client-package.controller.js';

@Module({ controllers: [ClientPackageController] })
export class ClientPackageModule {}
