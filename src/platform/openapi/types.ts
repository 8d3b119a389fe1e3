import type { OpenAPIObject } from '@nestjs/swagger';

// The parts of an OpenAPI document, by the names of its specification; Nest's package exports only the whole.
export type Components = NonNullable<OpenAPIObject['components']>;
export type PathItem = OpenAPIObject['paths'][string];
export type OperationObject = NonNullable<PathItem['get']>;
export type Responses = OperationObject['responses'];
export type Response = NonNullable<Components['responses']>[string];
export type Header = NonNullable<Components['headers']>[string];
export type Schema = Exclude<NonNullable<Components['schemas']>[string], Reference>;
export interface Reference {
  readonly $ref: string;
}

/** HTTP methods that a path item can hold and this service uses, in the order in which people read them. */
export const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
