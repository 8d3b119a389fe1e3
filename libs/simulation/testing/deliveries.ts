/** How agents of tests send their audio. */
export { Delivery, DELIVERY_STYLES, type DeliveryStyle } from '../voice/testing/delivery.js';
