/** Proxies between this machine and servers outside, as `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` name them. */
export { environmentProxy, type EnvironmentProxy, InvalidProxyError, through } from './environment-proxy.js';
export { agentOptions, fetchThrough, ProxyRefusal, refusalOf } from './fetch-through.js';
