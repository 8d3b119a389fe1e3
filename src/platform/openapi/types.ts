import type { OpenAPIObject } from '@nestjs/swagger';

// Parts of an OpenAPI document, named as in the specification; @nestjs/swagger exports only the whole.
export type Components = NonNullable<OpenAPIObject['components']>;
export type PathItem = OpenAPIObject['paths'][string];
export type OperationObject = NonNullable<PathItem['get']>;
export type Responses = OperationObject['responses'];
export type Response = NonNullable<Components['responses']>[string];
export type Header = NonNullable<Components['headers']>[string];
export type Schema = Exclude<NonNullable<Components['schemas']>[string], Reference>;
export type Parameter = Exclude<NonNullable<OperationObject['parameters']>[number], Reference>;
export interface Reference {
  readonly $ref: string;
}

/** HTTP methods that a path item can hold and this service uses, in the order in which people read them. */
export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
