import config from '../../../jest.config.mjs';

/** A run of one test that starts servers and never ends, to be killed. */
export default {
  ...config.projects[0],
  rootDir: '../../..',
  testMatch: ['<rootDir>/test/support/endless/endless.ts'],
};
