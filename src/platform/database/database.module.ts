import { type DynamicModule, Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DATABASE_URL } from './database.tokens.js';
import { Database } from './database.js';
import { Notifications } from './notifications.js';

/** Provides the connected data source to every module, and closes it last. */
@Global()
@Module({})
export class DatabaseModule implements OnApplicationShutdown {
  constructor(private readonly database: Database) {}

  /**
   * @param dataSource connected, with all migrations applied
   * @param url its connection string, for separate connections (LISTEN)
   */
  static forRoot(dataSource: DataSource, url: string): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        { provide: DataSource, useValue: dataSource },
        { provide: DATABASE_URL, useValue: url },
        Database,
        Notifications,
      ],
      exports: [DATABASE_URL, Database, Notifications],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.close();
  }
}
