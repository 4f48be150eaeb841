// Made from the API's document by `pnpm contract`; a test holds it against the document. Not to be changed by hand.

export interface webhooks {
    readonly "trade.closed": {
        readonly post: {
            readonly requestBody: {
                readonly content: {
                    readonly "application/json": components["schemas"]["TradeClosedEvent"];
                };
            };
        };
    };
    readonly "position.opened": {
        readonly post: {
            readonly requestBody: {
                readonly content: {
                    readonly "application/json": components["schemas"]["PositionOpenedEvent"];
                };
            };
        };
    };
    readonly "position.closed": {
        readonly post: {
            readonly requestBody: {
                readonly content: {
                    readonly "application/json": components["schemas"]["PositionClosedEvent"];
                };
            };
        };
    };
    readonly "order.created": {
        readonly post: {
            readonly requestBody: {
                readonly content: {
                    readonly "application/json": components["schemas"]["OrderCreatedEvent"];
                };
            };
        };
    };
    readonly "order.filled": {
        readonly post: {
            readonly requestBody: {
                readonly content: {
                    readonly "application/json": components["schemas"]["OrderFilledEvent"];
                };
            };
        };
    };
    readonly "order.cancelled": {
        readonly post: {
            readonly requestBody: {
                readonly content: {
                    readonly "application/json": components["schemas"]["OrderCancelledEvent"];
                };
            };
        };
    };
    readonly "account.balance_changed": {
        readonly post: {
            readonly requestBody: {
                readonly content: {
                    readonly "application/json": components["schemas"]["AccountBalanceChangedEvent"];
                };
            };
        };
    };
    readonly "risk.threshold_breached": {
        readonly post: {
            readonly requestBody: {
                readonly content: {
                    readonly "application/json": components["schemas"]["RiskThresholdBreachedEvent"];
                };
            };
        };
    };
    readonly "order.rejected": {
        readonly post: {
            readonly requestBody: {
                readonly content: {
                    readonly "application/json": components["schemas"]["OrderRejectedEvent"];
                };
            };
        };
    };
    readonly "order.expired": {
        readonly post: {
            readonly requestBody: {
                readonly content: {
                    readonly "application/json": components["schemas"]["OrderExpiredEvent"];
                };
            };
        };
    };
}
export interface components {
    schemas: {
        /** @description A broker account that the user linked. */
        readonly Account: {
            /**
             * Format: uuid
             * @description The id of a linked account.
             */
            readonly id: string;
            /** @description The label that its user gave it. */
            readonly name: string;
            /** @description The broker; null until it is confirmed. */
            readonly broker: string | null;
            /** @description The code of the trading platform. mt4 and mt5 can be read and traded; paper is the demo paper book. */
            readonly brokerType: string;
            /** @description The login at the broker. */
            readonly accountNumber: string;
            /** @description The broker's server. */
            readonly server: string;
            /**
             * @description Only accounts for trading accept orders.
             * @enum {string}
             */
            readonly purpose: "trading" | "introducing_broker" | "trade_copier";
            /** @description True only for a confirmed demo account; no other accepts orders. */
            readonly isDemo: boolean;
            /** @description The currency of all money of the account. */
            readonly currency: string;
            /** @description The balance, without the result of open positions. */
            readonly balance: number;
            /** @description The balance and the result of open positions. */
            readonly equity: number;
            /** @description Margin in use. */
            readonly margin: number;
            /** @description Free margin; null until it was read from the broker. */
            readonly freeMargin: number | null;
            /** @description Equity in percent of the margin in use; null until it was read from the broker. */
            readonly marginLevel: number | null;
            /** @description 100 means 1:100; null until it was read from the broker. */
            readonly leverage: number | null;
            /**
             * @description Whether the broker can be read.
             * @enum {string}
             */
            readonly status: "connected" | "disconnected" | "syncing" | "error";
            /**
             * Format: date-time
             * @description When the figures were read from the broker; null for stored ones.
             */
            readonly liveDataUpdatedAt: string | null;
            /**
             * Format: date-time
             * @description The last successful read from the broker, or createdAt without one.
             */
            readonly lastSyncAt: string;
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly updatedAt: string;
        };
        /** @description What is posted for account.balance_changed. */
        readonly AccountBalanceChangedEvent: {
            /**
             * @description The event type.
             * @enum {string}
             */
            readonly event: "account.balance_changed";
            /** @description The change. */
            readonly data: {
                /**
                 * Format: uuid
                 * @description The id of a linked account.
                 */
                readonly account_id: string;
                /** @description Before; null when it is not known. */
                readonly previous_balance: number | null;
                /** @description After; null when it is not known. */
                readonly new_balance: number | null;
                /** @description The difference. */
                readonly change_amount: number;
                /** @description The difference in percent of the previous balance; null when that was 0 or is not known. */
                readonly change_percentage: number | null;
                /** @description The balance and the result of open positions. */
                readonly equity: number;
                /** @description Margin in use. */
                readonly margin: number;
                /** @description Free margin; null when the broker did not report it. */
                readonly free_margin: number | null;
                /** @description Why. */
                readonly change_reason: string;
                /**
                 * Format: date-time
                 * @description In UTC.
                 */
                readonly changed_at: string | null;
                /** @description Equity in percent of the margin in use. */
                readonly margin_level?: number;
            };
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly webhook_id: string;
        };
        /** @description Whether an account is halted: then no order is placed on it. */
        readonly AccountHalt: {
            /**
             * Format: uuid
             * @description The id of a linked account.
             */
            readonly accountId: string;
            /** @description Whether it is. */
            readonly halted: boolean;
            readonly by: ("owner" | "operator") | null;
            /**
             * Format: date-time
             * @description Since when.
             */
            readonly since: string | null;
            /** @description Why, as it was given. */
            readonly reason: string | null;
            /** @description The cancellations of its orders, where they were to be cancelled. */
            readonly cancellations?: readonly components["schemas"]["CancelAttempt"][];
            /** @description Why no order was cancelled. */
            readonly cancelError?: {
                /** @description As in the error of a reply. */
                readonly code: string;
                /** @description The same in words. */
                readonly message: string;
            };
            /** @description The closes of its positions, where they were to be closed. */
            readonly closes?: readonly components["schemas"]["CloseAttempt"][];
            /** @description Why no position was closed. */
            readonly closeError?: {
                /** @description As in the error of a reply. */
                readonly code: string;
                /** @description The same in words. */
                readonly message: string;
            };
        };
        /** @description The figures of an account at a moment. */
        readonly BalanceSnapshot: {
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly timestamp: string;
            /** @description The balance, without the result of open positions. */
            readonly balance: number;
            /** @description The balance and the result of open positions. */
            readonly equity: number;
            /** @description Margin in use. */
            readonly margin: number;
            /** @description Free margin; null until it was read from the broker. */
            readonly freeMargin: number | null;
        };
        /** @description An instrument on its broker's terms. */
        readonly BrokerInstrument: {
            /** @description As the broker spells it. */
            readonly symbol: string;
            /** @description Its name. */
            readonly description: string | null;
            /** @description The smallest step of its price. */
            readonly tickSize: number;
            /** @description Units in one lot. */
            readonly contractSize: number;
            /** @description The fewest lots of an order. */
            readonly minVolume: number;
            /** @description The most lots of an order. */
            readonly maxVolume: number;
            /** @description The smallest step of a volume. */
            readonly volumeStep: number;
            /** @description Decimals of its price. */
            readonly digits: number;
            /** @description The smallest distance of a stop loss or take profit from the price, in points: steps of the last decimal. */
            readonly stopsLevel: number;
            readonly tradeMode: ("disabled" | "long_only" | "short_only" | "close_only" | "full") | null;
            /** @description The currency that is bought and sold. */
            readonly baseCurrency: string | null;
            /** @description The currency of its prices. */
            readonly profitCurrency: string | null;
            /** @description For a night, in the unit of the broker's terms. */
            readonly swapLong: number | null;
            /** @description For a night, in the unit of the broker's terms. */
            readonly swapShort: number | null;
            /** @description When it is traded. */
            readonly sessions: readonly {
                /**
                 * @description The day.
                 * @enum {string}
                 */
                readonly day: "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday";
                /** @description By the broker's clock. */
                readonly from: string;
                /** @description By the broker's clock. */
                readonly to: string;
            }[];
        };
        /** @description Who the caller is to the service. */
        readonly Caller: {
            /** @description The user of the credential. */
            readonly userId: string;
            /** @description Their tenant. */
            readonly tenantId: string;
            /**
             * @description The plan of the user, which sets the limits.
             * @enum {string}
             */
            readonly plan: "free" | "pro" | "enterprise";
            /** @description What the credential may do. */
            readonly scopes: readonly ("accounts:read" | "accounts:write" | "market-data:read" | "market-data:write" | "trading:read" | "trading:write" | "orders:read" | "orders:write" | "positions:read" | "positions:write" | "history:read" | "history:write" | "webhooks:read" | "webhooks:write" | "finance:read" | "finance:write" | "ai-agents:read" | "ai-agents:write" | "position-insights:read" | "position-insights:write" | "shared-charts:read" | "shared-charts:write")[];
            /** @description The credential of the request. */
            readonly credential: {
                /**
                 * @description What it is.
                 * @enum {string}
                 */
                readonly kind: "api_key" | "access_token";
                /** @description Its id; not the secret. */
                readonly id: string;
                /**
                 * Format: date-time
                 * @description When it expires; null: never.
                 */
                readonly expiresAt: string | null;
            };
            /** @description The plan's limits of the minute and the day. */
            readonly limits: readonly {
                /**
                 * @description Whether it is of the plan or of the endpoint.
                 * @enum {string}
                 */
                readonly scope: "tier" | "endpoint";
                /**
                 * @description Which limit of the plan it is.
                 * @enum {string}
                 */
                readonly window?: "minute" | "day";
                /** @description The most requests that it holds. */
                readonly limit: number;
                /** @description Requests that are left, after this one. */
                readonly remaining: number;
                /**
                 * Format: date-time
                 * @description When all of them are available again.
                 */
                readonly resetAt: string;
            }[];
            /** @description What this service can do beyond the API specification. */
            readonly capabilities: readonly string[];
        };
        /** @description The outcome of one of several cancellations. */
        readonly CancelAttempt: {
            /** @description The id of an order: ord_ and an opaque suffix. */
            readonly orderId: string;
            /**
             * @description filled: it was executed first. rejected: it was not cancelled. unknown: it may have been cancelled; read the order before you try again.
             * @enum {string}
             */
            readonly outcome: "cancelled" | "filled" | "rejected" | "unknown";
            /** @description As in the error of a reply. */
            readonly code?: string;
            /** @description The same in words. */
            readonly message?: string;
        };
        /** @description The prices of one period. */
        readonly Candle: {
            /**
             * Format: date-time
             * @description Its opening. Days, weeks and months begin by the broker's clock.
             */
            readonly time: string;
            /** @description The first bid. */
            readonly open: number;
            /** @description The highest bid. */
            readonly high: number;
            /** @description The lowest bid. */
            readonly low: number;
            /** @description The last bid. */
            readonly close: number;
            /** @description How many ticks there were. */
            readonly volume: number;
            /** @description False while the period lasts. */
            readonly complete: boolean;
        };
        /** @description The new levels; one that is left out stays. */
        readonly ChangeLevelsRequest: {
            /** @description A price; null removes the stop loss. */
            readonly stopLoss?: number | null;
            /** @description A price; null removes the take profit. */
            readonly takeProfit?: number | null;
        };
        /** @description What to change. */
        readonly ChangeWebhookRequest: {
            /** @description Where to post events: https, on the public internet. The demo accepts http to its own machine as well. */
            readonly url?: string;
            /** @description Which events; each counts once. */
            readonly eventTypes?: readonly ("trade.closed" | "position.opened" | "position.closed" | "order.created" | "order.filled" | "order.cancelled" | "account.balance_changed" | "risk.threshold_breached" | "order.rejected" | "order.expired")[];
            /** @description Whether events are delivered to it. */
            readonly enabled?: boolean;
        };
        /** @description The outcome of one of several closes. */
        readonly CloseAttempt: {
            /** @description The id of a position, and of the trade that it becomes. */
            readonly positionId: string;
            /**
             * @description rejected: nothing was closed. unknown: it may have been closed; read the position before you try again.
             * @enum {string}
             */
            readonly outcome: "closed" | "partially_closed" | "rejected" | "unknown";
            /** @description The broker's number of the closing order; null when it gave none. */
            readonly brokerOrderId?: string | null;
            /** @description Lots that were closed. */
            readonly closedVolume?: number;
            /** @description Lots that stay open; 0 when all was closed. */
            readonly remainingVolume?: number;
            /** @description The id of the rest, when the broker gave it a new one. */
            readonly remainingPositionId?: string;
            /** @description Weighted by volume; null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later. */
            readonly closePrice?: number | null;
            /** @description Profit of the close, before commission and swap; null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later. */
            readonly realizedPnl?: number | null;
            /**
             * Format: date-time
             * @description When it was closed; null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later.
             */
            readonly closedAt?: string | null;
            /** @description As in the error of a reply. */
            readonly code?: string;
            /** @description The same in words. */
            readonly message?: string;
        };
        /** @description How much to close. */
        readonly ClosePositionRequest: {
            /** @description Lots, at most those that are open; all when left out. */
            readonly volume?: number;
        };
        /** @description The outcome of a close. */
        readonly ClosePositionResult: {
            /** @description The id of a position, and of the trade that it becomes. */
            readonly id: string;
            /**
             * Format: uuid
             * @description The id of a linked account.
             */
            readonly accountId: string;
            /** @description The broker's ticket of the position. */
            readonly brokerPositionId: string;
            /** @description The broker's number of the closing order; null when it gave none. */
            readonly brokerOrderId: string | null;
            /** @description Lots that were closed. */
            readonly closedVolume: number;
            /** @description Lots that stay open; 0 when all was closed. */
            readonly remainingVolume: number;
            /** @description The id of the rest, when the broker gave it a new one. */
            readonly remainingPositionId?: string;
            /** @description Weighted by volume; null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later. */
            readonly closePrice: number | null;
            /** @description Profit of the close, before commission and swap; null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later. */
            readonly realizedPnl: number | null;
            /**
             * Format: date-time
             * @description When it was closed; null when the closing deal was not found straight after the close, or could belong to another close because the answer of the broker was lost; GET /trades shows it later.
             */
            readonly closedAt: string | null;
        };
        /** @description Which positions to close: those that match everything that is given. */
        readonly ClosePositionsRequest: {
            /**
             * Format: uuid
             * @description The id of a linked account.
             */
            readonly accountId: string;
            /** @description An instrument, in capitals; it matches whatever case the broker uses. */
            readonly symbol?: string;
            /**
             * @description The direction.
             * @enum {string}
             */
            readonly side?: "buy" | "sell";
            /**
             * @description Only those whose unrealizedPnl is above 0, or below 0.
             * @enum {string}
             */
            readonly only?: "profit" | "loss";
        };
        /** @description A webhook. */
        readonly CreateWebhookRequest: {
            /** @description Where to post events: https, on the public internet. The demo accepts http to its own machine as well. */
            readonly url: string;
            /** @description Which events; each counts once. */
            readonly eventTypes: readonly ("trade.closed" | "position.opened" | "position.closed" | "order.created" | "order.filled" | "order.cancelled" | "account.balance_changed" | "risk.threshold_breached" | "order.rejected" | "order.expired")[];
            /** @description The key of the signatures; 64 hexadecimal characters are generated when it is left out. */
            readonly secret?: string;
        };
        /** @description A webhook with a new secret, which no other reply shows. */
        readonly CreatedWebhook: {
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly id: string;
            /** @description Where events are posted. */
            readonly url: string;
            /** @description The events that are posted. */
            readonly eventTypes: readonly ("trade.closed" | "position.opened" | "position.closed" | "order.created" | "order.filled" | "order.cancelled" | "account.balance_changed" | "risk.threshold_breached" | "order.rejected" | "order.expired")[];
            /** @description Nothing is delivered to a webhook that is not enabled. */
            readonly enabled: boolean;
            /** @description Failed attempts to deliver in a row. */
            readonly failureCount: number;
            /**
             * Format: date-time
             * @description When an attempt or a test last succeeded; null before the first.
             */
            readonly lastSuccessAt: string | null;
            /**
             * Format: date-time
             * @description When an attempt last failed; null before the first.
             */
            readonly lastFailureAt: string | null;
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description When its user last changed it.
             */
            readonly updatedAt: string;
            /** @description The key of the signatures of what is posted. Keep it. */
            readonly secret: string;
        };
        /** @description Which page this is; its cursor leads to the next. */
        readonly CursorPagination: {
            /** @description The page, counted from 1. */
            readonly page: number;
            /** @description The maximum of items on a page. */
            readonly limit: number;
            /** @description How many there are in all. */
            readonly total: number;
            /** @description How many pages there are; 0 without any item. */
            readonly total_pages: number;
            /** @description Whether a page follows. */
            readonly has_next: boolean;
            /** @description Whether a page precedes. */
            readonly has_prev: boolean;
            /** @description Leads to the next page with the same filters: meta.pagination.cursor of a page. */
            readonly cursor?: string;
        };
        /** @description A webhook that was deleted. */
        readonly DeletedWebhook: {
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly id: string;
            /**
             * @description It is deleted.
             * @enum {boolean}
             */
            readonly deleted: true;
        };
        /** @description One record of the log of event deliveries. */
        readonly Delivery: {
            /**
             * Format: uuid
             * @description The id of a delivery, the same for all of its attempts.
             */
            readonly id: string;
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly webhookId: string;
            /** @description The id of the event, as in GET /events. */
            readonly eventId: string;
            /**
             * @description An event type.
             * @enum {string}
             */
            readonly eventType: "trade.closed" | "position.opened" | "position.closed" | "order.created" | "order.filled" | "order.cancelled" | "account.balance_changed" | "risk.threshold_breached" | "order.rejected" | "order.expired";
            /**
             * @description pending while another attempt is to come.
             * @enum {string}
             */
            readonly status: "success" | "failed" | "pending";
            /** @description How many there were. */
            readonly attempts: number;
            /** @description The status of the last answer; 0 without an answer, null before the first attempt. */
            readonly responseCode: number | null;
            /** @description How long the last answer took, in milliseconds; null before the first attempt. */
            readonly responseTimeMs: number | null;
            readonly failureReason: ("host_unreachable" | "connection_failed" | "tls_failed" | "answer_broken" | "timed_out" | "not_2xx" | "gone" | "webhook_disabled" | "interrupted") | null;
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description When the last attempt began; null before the first.
             */
            readonly lastAttemptAt: string | null;
            /**
             * Format: date-time
             * @description When the next attempt is scheduled; null once it is no longer pending.
             */
            readonly nextAttemptAt: string | null;
            /**
             * Format: uuid
             * @description The delivery that this one sends again; null when it is no replay.
             */
            readonly replayOf: string | null;
        };
        /** @description Something that happened, as the log has it. */
        readonly Event: {
            /** @description Event id; ids sort in event order. */
            readonly id: string;
            /**
             * @description The event type.
             * @enum {string}
             */
            readonly event: "trade.closed" | "position.opened" | "position.closed" | "order.created" | "order.filled" | "order.cancelled" | "account.balance_changed" | "risk.threshold_breached" | "order.rejected" | "order.expired";
            /**
             * Format: uuid
             * @description The id of a linked account.
             */
            readonly accountId: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            readonly timestamp: string;
            /** @description As webhooks get it; the fields depend on the type. */
            readonly data: unknown;
        };
        /** @description How to halt the account. */
        readonly HaltAccountRequest: {
            /** @description Why, for whoever reads it. */
            readonly reason?: string;
            /** @description Whether to close every open position once it is halted. */
            readonly closePositions?: boolean;
            /** @description Whether to cancel every open order, also one that turns out to be open later, while the halt stands. */
            readonly cancelOrders?: boolean;
        };
        /** @description An instrument of the fixed list. */
        readonly Instrument: {
            /** @description In capitals. */
            readonly symbol: string;
            /** @description Its name. */
            readonly description: string;
            /**
             * @description Its class.
             * @enum {string}
             */
            readonly type: "forex" | "metal" | "commodity" | "index" | "stock";
            /** @description The smallest step of its price. */
            readonly tickSize: number;
            /** @description Units in one lot. */
            readonly contractSize: number;
            /** @description Fraction of a position's value, 0.01 for 1:100. A placeholder, not the rate of any broker. */
            readonly marginRate: number;
            /** @description When it is traded, in words. */
            readonly tradingHours: string;
            /** @description The currency of its prices. */
            readonly currency: string;
            /** @description Only of forex pairs. */
            readonly baseCurrency?: string;
            /** @description Only of forex pairs. */
            readonly quoteCurrency?: string;
        };
        /** @description The cursor leads to the next page. */
        readonly ListPagination: {
            /** @description The maximum of items on a page. */
            readonly limit: number;
            /** @description Whether a page follows. */
            readonly has_next: boolean;
            /** @description Leads to the next page with the same filters: meta.pagination.cursor of a page. */
            readonly cursor?: string;
        };
        /** @description About the reply. */
        readonly Meta: {
            /**
             * Format: date-time
             * @description When the reply was made.
             */
            readonly timestamp: string;
            /** @description The id of the request, as sent or as generated (`req_…`). */
            readonly request_id: string;
            /**
             * @description The version of the API.
             * @enum {string}
             */
            readonly version: "1.0.0";
        };
        /** @description What to change. */
        readonly ModifyOrderRequest: {
            /** @description Where a pending order is executed, which it must have; of a market order it is recorded and not sent to the broker. */
            readonly price?: number;
            /** @description A price. */
            readonly stopLoss?: number | null;
            /** @description A price. */
            readonly takeProfit?: number | null;
            /** @description For stop_limit: the price of the limit order that it becomes. */
            readonly stopLimitPrice?: number;
            /** @description For timeInForce gtd: when the order expires. A date is its end, in UTC. */
            readonly expiresAt?: string;
        };
        /** @description The new level. */
        readonly MoveLevelRequest: {
            /** @description A price. */
            readonly value: number;
        };
        /** @description An order, from its being recorded to its outcome at the broker. */
        readonly Order: {
            /** @description The id of an order: ord_ and an opaque suffix. */
            readonly id: string;
            /** @description The owner. */
            readonly userId: string;
            /**
             * Format: uuid
             * @description The id of a linked account.
             */
            readonly accountId: string;
            /** @description The instrument, as it was sent. */
            readonly symbol: string;
            /**
             * @description The direction.
             * @enum {string}
             */
            readonly type: "buy" | "sell";
            /**
             * @description As it was sent.
             * @enum {string}
             */
            readonly orderType: "market" | "limit" | "stop" | "stop_limit";
            /** @description Lots. */
            readonly volume: number;
            /** @description Where a pending order is executed, which it must have; of a market order it is recorded and not sent to the broker. */
            readonly price?: number;
            /** @description For stop_limit: the price of the limit order that it becomes. */
            readonly stopLimitPrice?: number;
            /**
             * @description How long the broker holds a pending order: gtc until it is cancelled, day for the trading day, gtd until expiresAt.
             * @enum {string}
             */
            readonly timeInForce?: "gtc" | "day" | "gtd";
            /**
             * Format: date-time
             * @description With timeInForce gtd: when the order expires.
             */
            readonly expiresAt?: string;
            /** @description The broker's number of a pending order, once it is known. */
            readonly brokerOrderId?: string;
            /** @description A price. */
            readonly stopLoss?: number;
            /** @description A price. */
            readonly takeProfit?: number;
            /** @description As it was sent. */
            readonly comment?: string;
            /** @description The caller's own reference, which the order carries. */
            readonly clientId?: string;
            /**
             * @description pending until the broker decides; open while the broker holds a limit, stop or stop-limit order; then filled, partially_filled, cancelled, rejected or expired.
             * @enum {string}
             */
            readonly status: "pending" | "open" | "filled" | "partially_filled" | "cancelled" | "rejected" | "expired";
            /** @description The price of the execution, when known. */
            readonly fillPrice?: number;
            /** @description Lots that were executed, when known. */
            readonly filledVolume?: number;
            /**
             * Format: date-time
             * @description When it was executed, when known.
             */
            readonly filledAt?: string;
            /** @description The id of a position, and of the trade that it becomes. */
            readonly positionId?: string;
            /**
             * @description Who cancelled it: its owner, the broker or somebody in its terminal, or a halt of the account.
             * @enum {string}
             */
            readonly cancelReason?: "user" | "broker" | "halt";
            /**
             * Format: date-time
             * @description When it was cancelled.
             */
            readonly cancelledAt?: string;
            /**
             * Format: date-time
             * @description When it expired.
             */
            readonly expiredAt?: string;
            /** @description Why it was rejected. */
            readonly rejectReason?: {
                /** @description BROKER_UNAVAILABLE, NOT_FOUND_AT_BROKER, SYMBOL_NOT_FOUND, VALIDATION; LIVE_ACCOUNT_RESTRICTED, ACCOUNT_PURPOSE_RESTRICTED, ACCOUNT_NOT_FOUND, ACCOUNT_RELINKED, NOT_PROVISIONED or UNSUPPORTED_BROKER when the account changed before it was sent, ACCOUNT_HALTED when it was halted; FINISHED_BY_OPERATOR when an operator ended it; ORDER_STATE_ and the state in which the broker ended it; any other is the broker's. */
                readonly code: string;
                /** @description The same in words. */
                readonly message: string;
            };
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly updatedAt: string;
        };
        /** @description What is posted for order.cancelled. */
        readonly OrderCancelledEvent: {
            /**
             * @description The event type.
             * @enum {string}
             */
            readonly event: "order.cancelled";
            /** @description The order. */
            readonly data: {
                /** @description The id of an order: ord_ and an opaque suffix. */
                readonly order_id: string;
                /**
                 * Format: uuid
                 * @description The id of a linked account.
                 */
                readonly account_id: string;
                /** @description The instrument, as the broker spells it. */
                readonly symbol: string;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /**
                 * @description How the order is executed.
                 * @enum {string}
                 */
                readonly order_type: "market" | "limit" | "stop" | "stop_limit";
                /** @description Lots. */
                readonly volume: number;
                /**
                 * Format: date-time
                 * @description In UTC.
                 */
                readonly cancelled_at: string;
                /**
                 * @description Who cancelled it: its owner, the broker or somebody in its terminal, or a halt of the account.
                 * @enum {string}
                 */
                readonly cancel_reason: "user" | "broker" | "halt";
            };
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly webhook_id: string;
        };
        /** @description What is posted for order.created. */
        readonly OrderCreatedEvent: {
            /**
             * @description The event type.
             * @enum {string}
             */
            readonly event: "order.created";
            /** @description The order. */
            readonly data: {
                /** @description The id of an order: ord_ and an opaque suffix. */
                readonly order_id: string;
                /**
                 * Format: uuid
                 * @description The id of a linked account.
                 */
                readonly account_id: string;
                /** @description The instrument, as the broker spells it. */
                readonly symbol: string;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /**
                 * @description How the order is executed.
                 * @enum {string}
                 */
                readonly order_type: "market" | "limit" | "stop" | "stop_limit";
                /** @description Lots. */
                readonly volume: number;
                /**
                 * Format: date-time
                 * @description In UTC.
                 */
                readonly created_at: string;
                /** @description As it was sent. */
                readonly price?: number;
                /** @description A price; left out when there is none. */
                readonly stop_loss?: number;
                /** @description A price; left out when there is none. */
                readonly take_profit?: number;
                /** @description The caller's own reference, which the order carries. */
                readonly client_id?: string;
            };
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly webhook_id: string;
        };
        /** @description What is posted for order.expired. */
        readonly OrderExpiredEvent: {
            /**
             * @description The event type.
             * @enum {string}
             */
            readonly event: "order.expired";
            /** @description The order. */
            readonly data: {
                /** @description The id of an order: ord_ and an opaque suffix. */
                readonly order_id: string;
                /**
                 * Format: uuid
                 * @description The id of a linked account.
                 */
                readonly account_id: string;
                /** @description The instrument, as the broker spells it. */
                readonly symbol: string;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /**
                 * @description How the order is executed.
                 * @enum {string}
                 */
                readonly order_type: "market" | "limit" | "stop" | "stop_limit";
                /** @description Lots. */
                readonly volume: number;
                /**
                 * Format: date-time
                 * @description In UTC.
                 */
                readonly expired_at: string;
            };
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly webhook_id: string;
        };
        /** @description What is posted for order.filled. */
        readonly OrderFilledEvent: {
            /**
             * @description The event type.
             * @enum {string}
             */
            readonly event: "order.filled";
            /** @description The order, wholly or partly executed. */
            readonly data: {
                /** @description The id of an order: ord_ and an opaque suffix. */
                readonly order_id: string;
                /**
                 * Format: uuid
                 * @description The id of a linked account.
                 */
                readonly account_id: string;
                /** @description The instrument, as the broker spells it. */
                readonly symbol: string;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /**
                 * @description How the order is executed.
                 * @enum {string}
                 */
                readonly order_type: "market" | "limit" | "stop" | "stop_limit";
                /** @description Lots. */
                readonly volume: number;
                /** @description The price of the execution; null when the broker did not report it. */
                readonly fill_price: number | null;
                /** @description Lots that were executed; null when the broker did not report it of a partial execution. */
                readonly filled_volume: number | null;
                /**
                 * Format: date-time
                 * @description In UTC.
                 */
                readonly filled_at: string;
                /** @description As it was sent. */
                readonly requested_price?: number;
                /** @description The cost of the execution, when known. */
                readonly fees?: number;
                /** @description The id of a position, and of the trade that it becomes. */
                readonly position_id?: string;
            };
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly webhook_id: string;
        };
        /** @description What would become of an order if it were placed now. */
        readonly OrderPreview: {
            /** @description Whether no check failed. */
            readonly allowed: boolean;
            /** @description In their order: first those of placing, of which the first that fails is its refusal; then those of the instrument, which only the broker decides. */
            readonly checks: readonly {
                /**
                 * @description What is checked.
                 * @enum {string}
                 */
                readonly name: "levels" | "volume_per_order" | "account_purpose" | "demo_account" | "halt" | "provider_account" | "order_type" | "provider_token" | "challenge" | "desk_limits" | "trader_limits" | "approval" | "orders_per_day" | "open_orders" | "symbol" | "trade_mode" | "market_open" | "volume_minimum" | "volume_maximum" | "volume_step" | "stop_loss" | "take_profit";
                /** @description null: it cannot be said, for the reason in `message`. */
                readonly passed: boolean | null;
                /** @description As in the error of a reply. */
                readonly code?: string;
                /** @description The same in words. */
                readonly message?: string;
                /** @description The figures, by the code. */
                readonly details?: unknown;
            }[];
            /** @description In the account's currency. */
            readonly estimate: {
                /** @description The price at which it would be opened; null where the broker cannot say. */
                readonly price: number | null;
                /** @description The spread; null where the broker cannot say. */
                readonly spread: number | null;
                /** @description The margin that it needs; null where the broker cannot say. */
                readonly margin: number | null;
                /** @description Equity in percent of the margin in use with it; null where the broker cannot say. */
                readonly marginLevelAfter: number | null;
                /** @description What is lost at its stop loss; null where the broker cannot say. */
                readonly riskAmount: number | null;
                /** @description What is gained at its take profit; null where the broker cannot say. */
                readonly rewardAmount: number | null;
            };
        };
        /** @description What is posted for order.rejected. */
        readonly OrderRejectedEvent: {
            /**
             * @description The event type.
             * @enum {string}
             */
            readonly event: "order.rejected";
            /** @description The order. */
            readonly data: {
                /** @description The id of an order: ord_ and an opaque suffix. */
                readonly order_id: string;
                /**
                 * Format: uuid
                 * @description The id of a linked account.
                 */
                readonly account_id: string;
                /** @description The instrument, as the broker spells it. */
                readonly symbol: string;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /**
                 * @description How the order is executed.
                 * @enum {string}
                 */
                readonly order_type: "market" | "limit" | "stop" | "stop_limit";
                /** @description Lots. */
                readonly volume: number;
                /**
                 * Format: date-time
                 * @description In UTC.
                 */
                readonly rejected_at: string;
                /** @description The broker's code, or one of the service. */
                readonly reject_code: string;
                /** @description The same for a person. */
                readonly reject_message: string;
            };
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly webhook_id: string;
        };
        /** @description Which page this is. */
        readonly Pagination: {
            /** @description The page, counted from 1. */
            readonly page: number;
            /** @description The maximum of items on a page. */
            readonly limit: number;
            /** @description How many there are in all. */
            readonly total: number;
            /** @description How many pages there are; 0 without any item. */
            readonly total_pages: number;
            /** @description Whether a page follows. */
            readonly has_next: boolean;
            /** @description Whether a page precedes. */
            readonly has_prev: boolean;
        };
        /** @description A new order. */
        readonly PlaceOrderRequest: {
            /**
             * Format: uuid
             * @description A linked demo account for trading.
             */
            readonly accountId: string;
            /** @description The instrument. */
            readonly symbol: string;
            /**
             * @description The direction.
             * @enum {string}
             */
            readonly type: "buy" | "sell";
            /**
             * @description How it is executed: at once, or by the broker once the market reaches its price. stop_limit needs MT5.
             * @enum {string}
             */
            readonly orderType: "market" | "limit" | "stop" | "stop_limit";
            /** @description Lots. */
            readonly volume: number;
            /** @description Where a pending order is executed, which it must have; of a market order it is recorded and not sent to the broker. */
            readonly price?: number;
            /** @description For stop_limit: the price of the limit order that it becomes. */
            readonly stopLimitPrice?: number;
            /**
             * @description How long the broker holds a pending order: gtc until it is cancelled, day for the trading day, gtd until expiresAt.
             * @enum {string}
             */
            readonly timeInForce?: "gtc" | "day" | "gtd";
            /** @description For timeInForce gtd: when the order expires. A date is its end, in UTC. */
            readonly expiresAt?: string;
            /** @description A price. */
            readonly stopLoss?: number;
            /** @description A price. */
            readonly takeProfit?: number;
            /** @description Your own note; not sent to the broker. */
            readonly comment?: string;
            /** @description The caller's own reference, which the order carries. */
            readonly clientId?: string;
        };
        /** @description An open position, as its broker has it. */
        readonly Position: {
            /** @description The id of a position, and of the trade that it becomes. */
            readonly id: string;
            /** @description The owner. */
            readonly userId: string;
            /**
             * Format: uuid
             * @description The id of a linked account.
             */
            readonly accountId: string;
            /** @description The instrument, as the broker spells it. */
            readonly symbol: string;
            /**
             * @description The direction.
             * @enum {string}
             */
            readonly type: "buy" | "sell";
            /** @description Lots. */
            readonly volume: number;
            /** @description The price at which it was opened, weighted by volume. */
            readonly entryPrice: number;
            /** @description Charges are negative. */
            readonly swap: number;
            /** @description Charges are negative. */
            readonly commission: number;
            /** @description The broker's ticket of the position. */
            readonly brokerPositionId: string;
            /** @description The price at which it would be closed now. */
            readonly currentPrice: number;
            /** @description A price; left out when there is none. */
            readonly stopLoss?: number;
            /** @description A price; left out when there is none. */
            readonly takeProfit?: number;
            /** @description Result of the open volume, before swap and commission. */
            readonly unrealizedPnl: number;
            /** @description Result of what was closed of it so far. */
            readonly realizedPnl: number;
            /** @description Margin that the broker requires at the opening price; null when the provider could not compute it. */
            readonly marginUsed: number | null;
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly openedAt: string;
        };
        /** @description What is posted for position.closed. */
        readonly PositionClosedEvent: {
            /**
             * @description The event type.
             * @enum {string}
             */
            readonly event: "position.closed";
            /** @description The close of the position, or of a part of it. */
            readonly data: {
                /** @description The id of a position, and of the trade that it becomes. */
                readonly position_id: string;
                /**
                 * Format: uuid
                 * @description The id of a linked account.
                 */
                readonly account_id: string;
                /** @description The instrument, as the broker spells it. */
                readonly symbol: string | null;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /** @description Weighted by volume; null when not all opening deals are known. */
                readonly entry_price: number | null;
                /** @description Lots that were closed; null when they are not known. */
                readonly closed_volume: number | null;
                /** @description Lots that stay open; null when they are not known. */
                readonly remaining_volume: number | null;
                /** @description Null when the broker did not report it. */
                readonly exit_price: number | null;
                /** @description Before commission and swap. */
                readonly realized_pnl: number;
                /** @description Whether a part stays open; null when that is not known. */
                readonly is_partial: boolean | null;
                /**
                 * Format: date-time
                 * @description In UTC.
                 */
                readonly closed_at: string | null;
                /** @description Why, when known. */
                readonly exit_reason?: string;
            };
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly webhook_id: string;
        };
        /** @description What is posted for position.opened. */
        readonly PositionOpenedEvent: {
            /**
             * @description The event type.
             * @enum {string}
             */
            readonly event: "position.opened";
            /** @description The position. */
            readonly data: {
                /** @description The id of a position, and of the trade that it becomes. */
                readonly position_id: string;
                /**
                 * Format: uuid
                 * @description The id of a linked account.
                 */
                readonly account_id: string;
                /** @description The instrument, as the broker spells it. */
                readonly symbol: string | null;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /** @description Weighted by volume; null when not all opening deals are known. */
                readonly entry_price: number | null;
                /** @description Lots. */
                readonly volume: number | null;
                /** @description Margin that it requires; null when it is not known. */
                readonly margin_used: number | null;
                /**
                 * Format: date-time
                 * @description In UTC.
                 */
                readonly opened_at: string | null;
                /** @description A price; left out when there is none. */
                readonly stop_loss?: number;
                /** @description A price; left out when there is none. */
                readonly take_profit?: number;
            };
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly webhook_id: string;
        };
        /** @description A new order. */
        readonly PreviewOrderRequest: {
            /**
             * Format: uuid
             * @description A linked demo account for trading.
             */
            readonly accountId: string;
            /** @description The instrument. */
            readonly symbol: string;
            /**
             * @description The direction.
             * @enum {string}
             */
            readonly type: "buy" | "sell";
            /**
             * @description How it is executed: at once, or by the broker once the market reaches its price. stop_limit needs MT5.
             * @enum {string}
             */
            readonly orderType: "market" | "limit" | "stop" | "stop_limit";
            /** @description Lots. */
            readonly volume: number;
            /** @description Where a pending order is executed, which it must have; of a market order it is recorded and not sent to the broker. */
            readonly price?: number;
            /** @description For stop_limit: the price of the limit order that it becomes. */
            readonly stopLimitPrice?: number;
            /**
             * @description How long the broker holds a pending order: gtc until it is cancelled, day for the trading day, gtd until expiresAt.
             * @enum {string}
             */
            readonly timeInForce?: "gtc" | "day" | "gtd";
            /** @description For timeInForce gtd: when the order expires. A date is its end, in UTC. */
            readonly expiresAt?: string;
            /** @description A price. */
            readonly stopLoss?: number;
            /** @description A price. */
            readonly takeProfit?: number;
            /** @description Your own note; not sent to the broker. */
            readonly comment?: string;
            /** @description The caller's own reference, which the order carries. */
            readonly clientId?: string;
        };
        /** @description Where the data comes from and how old it is. */
        readonly Provenance: {
            /** @description The provider's name. */
            readonly source: string;
            /** @description The accounts that were read. */
            readonly accounts: readonly string[];
            /**
             * Format: date-time
             * @description When they were read; of several reads the oldest.
             */
            readonly readAt: string;
        };
        /** @description The current price of an instrument. */
        readonly Quote: {
            /** @description As it was asked for. */
            readonly symbol: string;
            /** @description What a seller gets. */
            readonly bid: number;
            /** @description What a buyer pays. */
            readonly ask: number;
            /** @description ask - bid. */
            readonly spread: number;
            /**
             * Format: date-time
             * @description When the broker quoted it.
             */
            readonly time: string;
            /** @description Whether the quote is older than 60 seconds. */
            readonly stale: boolean;
        };
        /** @description Whether the deals of an account add up to its balance. */
        readonly Reconciliation: {
            /** @description How many deals are kept. */
            readonly deals: number;
            /**
             * Format: date-time
             * @description The earliest deal; null without any.
             */
            readonly firstDealAt: string | null;
            /**
             * Format: date-time
             * @description The latest deal; null without any.
             */
            readonly lastDealAt: string | null;
            /** @description What all deals together moved the balance by. */
            readonly sum: number;
            /** @description The balance that the broker reported; null where they were not compared since deals last changed. */
            readonly balance: number | null;
            /** @description balance less sum; null where they were not compared since deals last changed. */
            readonly difference: number | null;
            /** @description Whether the deals explain the balance, and none is known to be missing. */
            readonly complete: boolean;
            /**
             * Format: date-time
             * @description When both were compared; null where they were not compared since deals last changed.
             */
            readonly checkedAt: string | null;
        };
        /** @description What to deliver again. */
        readonly RecoverWebhookRequest: {
            /** @description Events after this one, or after this time. */
            readonly since: string;
        };
        /** @description What is posted for risk.threshold_breached. */
        readonly RiskThresholdBreachedEvent: {
            /**
             * @description The event type.
             * @enum {string}
             */
            readonly event: "risk.threshold_breached";
            /** @description The breach. */
            readonly data: {
                /**
                 * Format: uuid
                 * @description The id of a linked account.
                 */
                readonly account_id: string;
                /**
                 * @description What is compared.
                 * @enum {string}
                 */
                readonly threshold_type: "equity_below" | "margin_level_below" | "daily_loss_above" | "drawdown_above";
                /** @description In the currency of the account, or in percent. */
                readonly threshold_value: number;
                /** @description The value now. */
                readonly current_value: number;
                /**
                 * @description How severe it is.
                 * @enum {string}
                 */
                readonly severity: "warning" | "critical";
                /** @description The same for a person. */
                readonly message: string;
                /**
                 * Format: date-time
                 * @description In UTC.
                 */
                readonly breached_at: string;
                /** @description The positions that were open; left out when they could not be read. */
                readonly affected_positions?: readonly string[];
            };
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly webhook_id: string;
        };
        /** @description How far the statistics could have come out otherwise, from resamples of the trades. */
        readonly RobustStatistics: {
            /**
             * @description Bias-corrected and accelerated bootstrap intervals, at 95 %.
             * @enum {string}
             */
            readonly method: "bca";
            /** @description How many resamples were drawn. */
            readonly resamples: number;
            /** @description Follows from the trades: the same trades have the same figures. */
            readonly seed: number;
            /** @description How many trades there are. */
            readonly trades: number;
            /** @description Null below 10 trades. */
            readonly intervals: {
                /** @description The mean net profit, in money. An end is null where it cannot be given. */
                readonly expectancy: {
                    /** @description The figure of the trades themselves. */
                    readonly estimate: number | null;
                    /** @description The lower end. */
                    readonly lower: number | null;
                    /** @description The upper end. */
                    readonly upper: number | null;
                };
                /** @description Winning trades in percent of all. An end is null where it cannot be given. */
                readonly winRate: {
                    /** @description The figure of the trades themselves. */
                    readonly estimate: number | null;
                    /** @description The lower end. */
                    readonly lower: number | null;
                    /** @description The upper end. */
                    readonly upper: number | null;
                };
                /** @description Null with profit and no loss. An end is null where it cannot be given. */
                readonly profitFactor: {
                    /** @description The figure of the trades themselves. */
                    readonly estimate: number | null;
                    /** @description The lower end. */
                    readonly lower: number | null;
                    /** @description The upper end. */
                    readonly upper: number | null;
                };
                /** @description Per trade, not annualised. An end is null where it cannot be given. */
                readonly sharpeRatio: {
                    /** @description The figure of the trades themselves. */
                    readonly estimate: number | null;
                    /** @description The lower end. */
                    readonly lower: number | null;
                    /** @description The upper end. */
                    readonly upper: number | null;
                };
                /** @description The estimate is what happened; the ends are quantiles over random orders of the trades, which may leave it outside. An end is null where it cannot be given. */
                readonly maxDrawdown: {
                    /** @description The figure of the trades themselves. */
                    readonly estimate: number | null;
                    /** @description The lower end. */
                    readonly lower: number | null;
                    /** @description The upper end. */
                    readonly upper: number | null;
                };
            } | null;
            /** @description The share of resamples whose sum is below 0; null below 10 trades. */
            readonly probabilityOfLoss: number | null;
        };
        /** @description The new secret, and for how long the one before signs too. */
        readonly RotateWebhookSecretRequest: {
            /** @description The key of the signatures; 64 hexadecimal characters are generated when it is left out. */
            readonly secret?: string;
            /**
             * @description For how many hours `webhook-signature` holds the signature of the previous secret too.
             * @default 24
             */
            readonly overlapHours?: number;
        };
        /** @description One change of the price. */
        readonly Tick: {
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly time: string;
            /** @description Null where the tick did not report it. */
            readonly bid: number | null;
            /** @description Null where the tick did not report it. */
            readonly ask: number | null;
        };
        /** @description A position whose whole volume is closed, folded from all of its deals. */
        readonly Trade: {
            /** @description The id of a position, and of the trade that it becomes. */
            readonly id: string;
            /** @description The owner. */
            readonly userId: string;
            /**
             * Format: uuid
             * @description The id of a linked account.
             */
            readonly accountId: string;
            /** @description The instrument, as the broker spells it. */
            readonly symbol: string;
            /**
             * @description The direction.
             * @enum {string}
             */
            readonly type: "buy" | "sell";
            /** @description Lots. */
            readonly volume: number;
            /** @description The price at which it was opened, weighted by volume. */
            readonly entryPrice: number;
            /** @description Charges are negative. */
            readonly swap: number;
            /** @description Charges are negative. */
            readonly commission: number;
            /** @description The broker's ticket of the position. */
            readonly positionId: string;
            /** @description The price at which it was closed, weighted by volume. */
            readonly exitPrice: number;
            /** @description Before commission and swap. */
            readonly profit: number;
            /** @description profit + commission + swap. */
            readonly netProfit: number;
            /** @description Whole seconds from openedAt to closedAt, rounded down. */
            readonly holdingTime: number;
            /**
             * Format: date-time
             * @description The first opening deal.
             */
            readonly openedAt: string;
            /**
             * Format: date-time
             * @description The last closing deal.
             */
            readonly closedAt: string;
            /** @description True when a closing deal had no volume, and volume is the volume opened; else absent. */
            readonly volumeEstimated?: boolean;
        };
        /** @description The statistics of groups of trades. */
        readonly TradeBreakdown: {
            /** @description In the order of the keys, without empty groups. */
            readonly groups: readonly components["schemas"]["TradeGroup"][];
        };
        /** @description What is posted for trade.closed. */
        readonly TradeClosedEvent: {
            /**
             * @description The event type.
             * @enum {string}
             */
            readonly event: "trade.closed";
            /** @description The trade. */
            readonly data: {
                /** @description The id of a position, and of the trade that it becomes. */
                readonly trade_id: string;
                /** @description The id of a position, and of the trade that it becomes. */
                readonly position_id: string;
                /**
                 * Format: uuid
                 * @description The id of a linked account.
                 */
                readonly account_id: string;
                /** @description The instrument, as the broker spells it. */
                readonly symbol: string;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /** @description Lots. */
                readonly volume: number;
                /** @description The price at which it was opened, weighted by volume. */
                readonly entry_price: number;
                /** @description The price at which it was closed, weighted by volume. */
                readonly exit_price: number;
                /** @description Before commission and swap. */
                readonly profit: number;
                /** @description The price's move in the trade's favour, in percent of entry_price. */
                readonly profit_percentage: number;
                /** @description Charges are negative. */
                readonly swap: number;
                /** @description Charges are negative. */
                readonly commission: number;
                /** @description Whole seconds from opened_at to closed_at. */
                readonly holding_time_seconds: number;
                /**
                 * Format: date-time
                 * @description In UTC.
                 */
                readonly opened_at: string;
                /**
                 * Format: date-time
                 * @description In UTC.
                 */
                readonly closed_at: string;
            };
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly webhook_id: string;
        };
        /** @description How net profit and balance grew, by closing order. */
        readonly TradeCurve: {
            /** @description At most `points`. The first, the last, and the peak and the trough of the deepest drawdown are always among them. */
            readonly points: readonly {
                /**
                 * Format: date-time
                 * @description When it closed.
                 */
                readonly time: string;
                /** @description The sum of the net profits up to here. */
                readonly netProfit: number;
                /** @description The account's balance, with deposits and withdrawals; null over several accounts. */
                readonly balance: number | null;
                /** @description How far netProfit is below its highest value so far, from 0 on. */
                readonly drawdown: number;
                /** @description In percent of the highest balance before it, deposits included; null over several accounts. */
                readonly drawdownPercent: number | null;
            }[];
            /** @description What moved the balance and is no result of a trade: deposits, withdrawals and what the broker books by itself, whatever the symbol; null over several accounts. */
            readonly cashFlows: {
                /** @description How many there are. */
                readonly count: number;
                /** @description The sum of the amounts above 0. */
                readonly inflows: number;
                /** @description The sum of the amounts below 0, as a positive magnitude. */
                readonly outflows: number;
                /** @description By time. Of more than 500 the largest. */
                readonly points: readonly {
                    /**
                     * Format: date-time
                     * @description When it was booked.
                     */
                    readonly time: string;
                    /** @description In money; below 0 where it left the account. */
                    readonly amount: number;
                    /**
                     * @description Why.
                     * @enum {string}
                     */
                    readonly reason: "deposit" | "withdrawal" | "charge" | "correction" | "other";
                    /** @description The account's balance after it. */
                    readonly balance: number;
                }[];
            } | null;
            /** @description The deepest drawdown. */
            readonly maxDrawdown: {
                /** @description In money; 0 when there is none. */
                readonly amount: number;
                /** @description In percent of the highest balance before it, deposits included; null over several accounts. */
                readonly percent: number | null;
                /**
                 * Format: date-time
                 * @description The trade before which it began; null when there is none, or it began with the first trade.
                 */
                readonly peakAt: string | null;
                /**
                 * Format: date-time
                 * @description The trade after which it was deepest; null when there is none.
                 */
                readonly troughAt: string | null;
                /**
                 * Format: date-time
                 * @description The trade after which netProfit was back at its peak; null when it is not yet.
                 */
                readonly recoveredAt: string | null;
            };
        };
        /** @description The deals that a trade was folded from, and the sums of all of them. */
        readonly TradeDeals: {
            /** @description A page, in the order in which they are folded: by time, then by number. */
            readonly deals: readonly {
                /** @description The broker's number of the deal. */
                readonly id: string;
                /**
                 * Format: date-time
                 * @description When it was made.
                 */
                readonly time: string;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /**
                 * @description Whether it opens or closes.
                 * @enum {string}
                 */
                readonly entry?: "in" | "out" | "inout" | "out_by";
                /** @description The broker's number of the order that made it. */
                readonly orderId?: string;
                /** @description The instrument, as the broker spells it. */
                readonly symbol?: string;
                /** @description Lots; left out where the broker does not report it. */
                readonly volume?: number;
                /** @description The price of the deal. */
                readonly price?: number;
                /** @description Before commission and swap. */
                readonly profit: number;
                /** @description Charges are negative. */
                readonly commission: number;
                /** @description Charges are negative. */
                readonly swap: number;
                /**
                 * @description Who or what caused it.
                 * @enum {string}
                 */
                readonly reason?: "stop_loss" | "take_profit" | "stop_out" | "client" | "expert" | "mobile" | "web" | "other";
                /** @description Of an opening deal: the stop loss of its order. */
                readonly stopLoss?: number;
                /** @description Of an opening deal: the take profit of its order. */
                readonly takeProfit?: number;
            }[];
            /** @description Exact sums of all deals, each rounded once: the figures of the trade. */
            readonly sums: {
                /** @description Lots of the opening deals, as far as they report them. */
                readonly openedVolume: number;
                /** @description Lots of the closing deals, as far as they report them. */
                readonly closedVolume: number;
                /** @description Before commission and swap. */
                readonly profit: number;
                /** @description Charges are negative. */
                readonly commission: number;
                /** @description Charges are negative. */
                readonly swap: number;
                /** @description profit + commission + swap. */
                readonly netProfit: number;
            };
        };
        /** @description The trades without the envelope. */
        readonly TradeExport: {
            /** @description Most recently closed first. */
            readonly trades: readonly components["schemas"]["Trade"][];
            readonly provenance: components["schemas"]["TradeProvenance"];
        };
        /** @description The trades of one key. */
        readonly TradeGroup: {
            /** @description The symbol, side or account, or in the zone the month (2026-11), weekday (1, Monday, to 7), hour (0 to 23) or both (1_09), the holding time (such as 1m_5m) or the result (such as -20_-10, under_-200 or over_400). */
            readonly key: string;
            /** @description How many trades there are. */
            readonly totalTrades: number;
            /** @description Trades with a net profit above 0. */
            readonly winningTrades: number;
            /** @description Trades with a net profit of 0 or below. */
            readonly losingTrades: number;
            /** @description Winning trades in percent of all. */
            readonly winRate: number;
            /** @description totalProfit over totalLoss; null with profit and no loss, 0 with neither. */
            readonly profitFactor: number | null;
            /** @description Mean of the winning trades. */
            readonly averageWin: number;
            /** @description Mean of the losing trades. */
            readonly averageLoss: number;
            /** @description The best trade. */
            readonly largestWin: number;
            /** @description The worst trade. */
            readonly largestLoss: number;
            /** @description Sum of the winning trades. */
            readonly totalProfit: number;
            /** @description Sum of the losing trades. */
            readonly totalLoss: number;
            /** @description totalProfit less totalLoss. */
            readonly netProfit: number;
            /** @description The mean trade over its standard deviation, per trade, not annualised; 0 below two trades. */
            readonly sharpeRatio: number;
            /** @description The deepest fall of the summed net profit from a peak, in money. */
            readonly maxDrawdown: number;
            /** @description How sure the figures are. */
            readonly confidenceIntervals: {
                /** @description The level of both. */
                readonly level: number;
                /** @description Wilson's interval of winRate, in percent; null without trades. */
                readonly winRate: {
                    /** @description Its lower end. */
                    readonly lower: number;
                    /** @description Its upper end. */
                    readonly upper: number;
                } | null;
                /** @description Student's t interval of the mean net profit, in money; null below two trades. */
                readonly averageTrade: {
                    /** @description Its lower end. */
                    readonly lower: number;
                    /** @description Its upper end. */
                    readonly upper: number;
                } | null;
            };
            /** @description Whether there are 30 trades or more, so that the figures say something. */
            readonly enough: boolean;
        };
        /** @description Where the trades come from, and which positions are missing. */
        readonly TradeProvenance: {
            /** @description The provider's name. */
            readonly source: string;
            /** @description The accounts that were read. */
            readonly accounts: readonly string[];
            /**
             * Format: date-time
             * @description When they were read; of several reads the oldest.
             */
            readonly readAt: string;
            /** @description Positions of these accounts whose deals could not be folded into a trade. */
            readonly skipped: readonly {
                /**
                 * Format: uuid
                 * @description The id of a linked account.
                 */
                readonly accountId: string;
                /** @description The broker's ticket of the position. */
                readonly positionId: string;
                /**
                 * @description Why it could not be folded into a trade.
                 * @enum {string}
                 */
                readonly reason: "unsupported_deal_entry_type" | "no_open_deal" | "zero_open_volume" | "closed_exceeds_opened" | "invalid_timestamp" | "missing_symbol_or_times" | "missing_price";
            }[];
        };
        /** @description Statistics over the net profits of closed trades. Losses are positive magnitudes. */
        readonly TradeStatistics: {
            /** @description How many trades there are. */
            readonly totalTrades: number;
            /** @description Trades with a net profit above 0. */
            readonly winningTrades: number;
            /** @description Trades with a net profit of 0 or below. */
            readonly losingTrades: number;
            /** @description Winning trades in percent of all. */
            readonly winRate: number;
            /** @description totalProfit over totalLoss; null with profit and no loss, 0 with neither. */
            readonly profitFactor: number | null;
            /** @description Mean of the winning trades. */
            readonly averageWin: number;
            /** @description Mean of the losing trades. */
            readonly averageLoss: number;
            /** @description The best trade. */
            readonly largestWin: number;
            /** @description The worst trade. */
            readonly largestLoss: number;
            /** @description Sum of the winning trades. */
            readonly totalProfit: number;
            /** @description Sum of the losing trades. */
            readonly totalLoss: number;
            /** @description totalProfit less totalLoss. */
            readonly netProfit: number;
            /** @description The mean trade over its standard deviation, per trade, not annualised; 0 below two trades. */
            readonly sharpeRatio: number;
            /** @description The deepest fall of the summed net profit from a peak, in money. */
            readonly maxDrawdown: number;
            /** @description How sure the figures are. */
            readonly confidenceIntervals: {
                /** @description The level of both. */
                readonly level: number;
                /** @description Wilson's interval of winRate, in percent; null without trades. */
                readonly winRate: {
                    /** @description Its lower end. */
                    readonly lower: number;
                    /** @description Its upper end. */
                    readonly upper: number;
                } | null;
                /** @description Student's t interval of the mean net profit, in money; null below two trades. */
                readonly averageTrade: {
                    /** @description Its lower end. */
                    readonly lower: number;
                    /** @description Its upper end. */
                    readonly upper: number;
                } | null;
            };
            /** @description The mean trade over its downside deviation from 0, per trade; null with profit and no loss. */
            readonly sortinoRatio?: number | null;
            /** @description The mean net profit of a trade. */
            readonly expectancy?: number;
            /** @description The mean time that a position was open, in seconds. */
            readonly averageHoldingTime?: number;
            /** @description The most winning trades in a row. */
            readonly longestWinStreak?: number;
            /** @description The most losing trades in a row. */
            readonly longestLossStreak?: number;
            /** @description netProfit over maxDrawdown; null with profit and no drawdown. */
            readonly recoveryFactor?: number | null;
            /** @description maxDrawdown in percent of the highest balance before it, deposits included; null over several accounts. */
            readonly maxDrawdownPercent?: number | null;
        };
        /** @description Something to know about the figures. */
        readonly Warning: {
            /**
             * @description The accounts have several currencies, whose figures were added up as they are.
             * @enum {string}
             */
            readonly code: "mixed_currencies";
            /** @description The currencies of the accounts. */
            readonly currencies: readonly string[];
            /** @description The same for a person. */
            readonly message: string;
        };
        /** @description Where which events are posted. */
        readonly Webhook: {
            /**
             * Format: uuid
             * @description The id of a webhook.
             */
            readonly id: string;
            /** @description Where events are posted. */
            readonly url: string;
            /** @description The events that are posted. */
            readonly eventTypes: readonly ("trade.closed" | "position.opened" | "position.closed" | "order.created" | "order.filled" | "order.cancelled" | "account.balance_changed" | "risk.threshold_breached" | "order.rejected" | "order.expired")[];
            /** @description Nothing is delivered to a webhook that is not enabled. */
            readonly enabled: boolean;
            /** @description Failed attempts to deliver in a row. */
            readonly failureCount: number;
            /**
             * Format: date-time
             * @description When an attempt or a test last succeeded; null before the first.
             */
            readonly lastSuccessAt: string | null;
            /**
             * Format: date-time
             * @description When an attempt last failed; null before the first.
             */
            readonly lastFailureAt: string | null;
            /**
             * Format: date-time
             * @description In UTC.
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description When its user last changed it.
             */
            readonly updatedAt: string;
        };
        /** @description What is delivered again. */
        readonly WebhookRecovery: {
            /** @description How many deliveries were recorded. */
            readonly scheduled: number;
        };
        /** @description The receiver's answer to a test. */
        readonly WebhookTestResult: {
            /** @description Whether it answered with a 2xx. */
            readonly success: boolean;
            /** @description The status that it answered; 0 without an answer. */
            readonly responseCode: number;
            /** @description Milliseconds from the first byte sent to the answer's head. */
            readonly responseTimeMs: number;
            readonly failureReason: ("host_unreachable" | "connection_failed" | "tls_failed" | "answer_broken" | "timed_out" | "not_2xx" | "gone" | "webhook_disabled" | "interrupted") | null;
        };
    };
}
export interface operations {
    readonly listAccounts: {
        readonly responses: {
            /** @description Oldest first; empty when none is linked. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description Oldest first; empty when none is linked. */
                        readonly data: readonly components["schemas"]["Account"][];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly getAccount: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a linked account. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description A broker account that the user linked. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Account"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly listBalanceHistory: {
        readonly parameters: {
            readonly query?: {
                /** @description The earliest, included. */
                readonly startDate?: string;
                /** @description The latest, included. */
                readonly endDate?: string;
                /** @description Caps the count: 1h at 168, 1d at 365, 1w at 104. Nothing is aggregated. */
                readonly interval?: "1h" | "1d" | "1w";
            };
            readonly path: {
                /** @description The id of a linked account. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description Newest first; empty when there is none. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description Newest first; empty when there is none. */
                        readonly data: readonly components["schemas"]["BalanceSnapshot"][];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly getHalt: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a linked account. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description Whether an account is halted: then no order is placed on it. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["AccountHalt"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly haltAccount: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a linked account. */
                readonly id: string;
            };
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["HaltAccountRequest"];
            };
        };
        readonly responses: {
            /** @description Whether an account is halted: then no order is placed on it. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["AccountHalt"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly liftHalt: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a linked account. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description Whether an account is halted: then no order is placed on it. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["AccountHalt"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly listOrders: {
        readonly parameters: {
            readonly query?: {
                /** @description The id of a linked account. */
                readonly accountId?: string;
                /** @description Orders with this status. */
                readonly status?: "pending" | "open" | "filled" | "partially_filled" | "cancelled" | "rejected" | "expired";
                /** @description The instrument. */
                readonly symbol?: string;
                /** @description The caller's own reference, which the order carries. */
                readonly clientId?: string;
                /** @description The earliest, included. */
                readonly startDate?: string;
                /** @description The latest, included. */
                readonly endDate?: string;
                /** @description The page, counted from 1. */
                readonly page?: number;
                /** @description The maximum of items on a page. */
                readonly limit?: number;
            };
        };
        readonly responses: {
            /** @description Newest first. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description Newest first. */
                        readonly data: readonly components["schemas"]["Order"][];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly pagination: components["schemas"]["Pagination"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly placeOrder: {
        readonly parameters: {
            readonly query?: {
                /** @description Seconds: the reply is held back until the order is no longer pending, or that time is over. */
                readonly wait?: number;
            };
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PlaceOrderRequest"];
            };
        };
        readonly responses: {
            /** @description An order, from its being recorded to its outcome at the broker. */
            readonly 201: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Order"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly cancelOrders: {
        readonly parameters: {
            readonly query: {
                /** @description The id of a linked account. */
                readonly accountId: string;
            };
        };
        readonly responses: {
            /** @description Oldest order first; empty where none is open. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description Oldest order first; empty where none is open. */
                        readonly data: readonly components["schemas"]["CancelAttempt"][];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly previewOrder: {
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PreviewOrderRequest"];
            };
        };
        readonly responses: {
            /** @description What would become of an order if it were placed now. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["OrderPreview"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly getOrder: {
        readonly parameters: {
            readonly path: {
                /** @description The id of an order: ord_ and an opaque suffix. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description An order, from its being recorded to its outcome at the broker. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Order"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly modifyOrder: {
        readonly parameters: {
            readonly path: {
                /** @description The id of an order: ord_ and an opaque suffix. */
                readonly id: string;
            };
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ModifyOrderRequest"];
            };
        };
        readonly responses: {
            /** @description An order, from its being recorded to its outcome at the broker. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Order"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly cancelOrder: {
        readonly parameters: {
            readonly path: {
                /** @description The id of an order: ord_ and an opaque suffix. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description An order, from its being recorded to its outcome at the broker. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Order"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly listPositions: {
        readonly parameters: {
            readonly query?: {
                /** @description The id of a linked account. */
                readonly accountId?: string;
                /** @description An instrument, in capitals; it matches whatever case the broker uses. */
                readonly symbol?: string;
                /** @description The page, counted from 1. */
                readonly page?: number;
                /** @description The maximum of items on a page. */
                readonly limit?: number;
            };
        };
        readonly responses: {
            /** @description Oldest first. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description Oldest first. */
                        readonly data: readonly components["schemas"]["Position"][];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["Provenance"];
                            readonly pagination: components["schemas"]["Pagination"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly getPosition: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a position, and of the trade that it becomes. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description An open position, as its broker has it. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Position"];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["Provenance"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly moveStopLoss: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a position, and of the trade that it becomes. */
                readonly id: string;
            };
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["MoveLevelRequest"];
            };
        };
        readonly responses: {
            /** @description An open position, as its broker has it. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Position"];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["Provenance"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly moveTakeProfit: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a position, and of the trade that it becomes. */
                readonly id: string;
            };
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["MoveLevelRequest"];
            };
        };
        readonly responses: {
            /** @description An open position, as its broker has it. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Position"];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["Provenance"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly changePositionLevels: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a position, and of the trade that it becomes. */
                readonly id: string;
            };
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ChangeLevelsRequest"];
            };
        };
        readonly responses: {
            /** @description An open position, as its broker has it. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Position"];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["Provenance"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly closePosition: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a position, and of the trade that it becomes. */
                readonly id: string;
            };
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ClosePositionRequest"];
            };
        };
        readonly responses: {
            /** @description The outcome of a close. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["ClosePositionResult"];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["Provenance"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly closePositions: {
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ClosePositionsRequest"];
            };
        };
        readonly responses: {
            /** @description Oldest position first; empty where none matches. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description Oldest position first; empty where none matches. */
                        readonly data: readonly components["schemas"]["CloseAttempt"][];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly getTradeCurve: {
        readonly parameters: {
            readonly query?: {
                /** @description The id of a linked account. */
                readonly accountId?: string;
                /** @description An instrument, in capitals; it matches whatever case the broker uses. */
                readonly symbol?: string;
                /** @description The earliest, included. */
                readonly startDate?: string;
                /** @description The latest, included. */
                readonly endDate?: string;
                /** @description The maximum of points. */
                readonly points?: number;
            };
        };
        readonly responses: {
            /** @description How net profit and balance grew, by closing order. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["TradeCurve"];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["TradeProvenance"];
                            /** @description Left out when there is none. */
                            readonly warnings?: readonly components["schemas"]["Warning"][];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly getTradeBreakdown: {
        readonly parameters: {
            readonly query: {
                /** @description The id of a linked account. */
                readonly accountId?: string;
                /** @description An instrument, in capitals; it matches whatever case the broker uses. */
                readonly symbol?: string;
                /** @description The earliest, included. */
                readonly startDate?: string;
                /** @description The latest, included. */
                readonly endDate?: string;
                /** @description What the trades are grouped by. */
                readonly by: "symbol" | "side" | "account" | "month" | "weekday" | "hour" | "weekday_hour" | "holding" | "result";
                /** @description An IANA time zone, in which months, weekdays and hours are counted. */
                readonly timeZone?: string;
            };
        };
        readonly responses: {
            /** @description The statistics of groups of trades. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["TradeBreakdown"];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["TradeProvenance"];
                            /** @description Left out when there is none. */
                            readonly warnings?: readonly components["schemas"]["Warning"][];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly getRobustStatistics: {
        readonly parameters: {
            readonly query?: {
                /** @description The id of a linked account. */
                readonly accountId?: string;
                /** @description An instrument, in capitals; it matches whatever case the broker uses. */
                readonly symbol?: string;
                /** @description The earliest, included. */
                readonly startDate?: string;
                /** @description The latest, included. */
                readonly endDate?: string;
                /** @description How many resamples to draw. */
                readonly resamples?: number;
            };
        };
        readonly responses: {
            /** @description How far the statistics could have come out otherwise, from resamples of the trades. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["RobustStatistics"];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["TradeProvenance"];
                            /** @description Left out when there is none. */
                            readonly warnings?: readonly components["schemas"]["Warning"][];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly getTradeDeals: {
        readonly parameters: {
            readonly query?: {
                /** @description The page, counted from 1. */
                readonly page?: number;
                /** @description The maximum of items on a page. */
                readonly limit?: number;
            };
            readonly path: {
                /** @description The id of a trade. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description The deals that a trade was folded from, and the sums of all of them. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["TradeDeals"];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["TradeProvenance"];
                            readonly pagination: components["schemas"]["Pagination"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly getReconciliation: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a linked account. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description Whether the deals of an account add up to its balance. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Reconciliation"];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["Provenance"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly listTrades: {
        readonly parameters: {
            readonly query?: {
                /** @description The id of a linked account. */
                readonly accountId?: string;
                /** @description An instrument, in capitals; it matches whatever case the broker uses. */
                readonly symbol?: string;
                /** @description The earliest, included. */
                readonly startDate?: string;
                /** @description The latest, included. */
                readonly endDate?: string;
                /** @description Trades with a net profit above 0 (profit), of 0 or below (loss), or all. */
                readonly profitFilter?: "profit" | "loss" | "all";
                /** @description The maximum of items on a page. */
                readonly limit?: number;
                /** @description Leads to the next page with the same filters: meta.pagination.cursor of a page. */
                readonly cursor?: string;
            };
        };
        readonly responses: {
            /** @description Most recently closed first. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description Most recently closed first. */
                        readonly data: readonly components["schemas"]["Trade"][];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["TradeProvenance"];
                            readonly pagination: components["schemas"]["CursorPagination"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly getTradeStatistics: {
        readonly parameters: {
            readonly query?: {
                /** @description The id of a linked account. */
                readonly accountId?: string;
                /** @description An instrument, in capitals; it matches whatever case the broker uses. */
                readonly symbol?: string;
                /** @description The earliest, included. */
                readonly startDate?: string;
                /** @description The latest, included. */
                readonly endDate?: string;
                /** @description Whether to add further statistics. */
                readonly extended?: boolean;
            };
        };
        readonly responses: {
            /** @description Statistics over the net profits of closed trades. Losses are positive magnitudes. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["TradeStatistics"];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["TradeProvenance"];
                            /** @description Left out when there is none. */
                            readonly warnings?: readonly components["schemas"]["Warning"][];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly exportTrades: {
        readonly parameters: {
            readonly query?: {
                /** @description The id of a linked account. */
                readonly accountId?: string;
                /** @description An instrument, in capitals; it matches whatever case the broker uses. */
                readonly symbol?: string;
                /** @description The earliest, included. */
                readonly startDate?: string;
                /** @description The latest, included. */
                readonly endDate?: string;
                /** @description Trades with a net profit above 0 (profit), of 0 or below (loss), or all. */
                readonly profitFilter?: "profit" | "loss" | "all";
                /** @description The format of the file. */
                readonly format?: "csv" | "json";
            };
        };
        readonly responses: {
            /** @description Streamed until it ends. */
            readonly 200: {
                content: {
                    readonly "text/csv": string;
                    readonly "application/json": components["schemas"]["TradeExport"];
                };
            };
        };
    };
    readonly getTrade: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a trade. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description A position whose whole volume is closed, folded from all of its deals. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Trade"];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["TradeProvenance"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly listSymbols: {
        readonly parameters: {
            readonly query?: {
                /** @description Instruments of one type. */
                readonly type?: "forex" | "metal" | "commodity" | "index" | "stock";
                /** @description Text in the symbol or the description, in any case. */
                readonly search?: string;
                /** @description A linked account, whose broker's instruments are listed. */
                readonly accountId?: string;
                /** @description With accountId: the page, counted from 1. */
                readonly page?: number;
                /** @description With accountId: the maximum of items on a page, by default 20. */
                readonly limit?: number;
            };
        };
        readonly responses: {
            /** @description The fixed list, or with accountId a page of the broker's instruments. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description The fixed list, or with accountId a page of the broker's instruments. */
                        readonly data: readonly components["schemas"]["Instrument"][] | readonly components["schemas"]["BrokerInstrument"][];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly pagination?: components["schemas"]["Pagination"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly listQuotes: {
        readonly parameters: {
            readonly query: {
                /** @description Instruments, in capitals, separated by commas. */
                readonly symbols: string;
                /** @description A linked account, whose broker's prices are read. Without it those of the operator's feed are, for the listed instruments. */
                readonly accountId?: string;
            };
        };
        readonly responses: {
            /** @description In the order of the request. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description In the order of the request. */
                        readonly data: readonly components["schemas"]["Quote"][];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly streamQuotes: {
        readonly parameters: {
            readonly query: {
                /** @description Instruments, in capitals, separated by commas. */
                readonly symbols: string;
                /** @description A linked account, whose broker's prices are read. Without it those of the operator's feed are, for the listed instruments. */
                readonly accountId?: string;
            };
        };
        readonly responses: {
            /** @description Streamed until it ends. */
            readonly 200: {
                content: {
                    readonly "text/event-stream": string;
                };
            };
        };
    };
    readonly getQuote: {
        readonly parameters: {
            readonly query?: {
                /** @description A linked account, whose broker's prices are read. Without it those of the operator's feed are, for the listed instruments. */
                readonly accountId?: string;
            };
            readonly path: {
                /** @description An instrument, in capitals; it matches whatever case the broker uses. */
                readonly symbol: string;
            };
        };
        readonly responses: {
            /** @description The current price of an instrument. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Quote"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly listCandles: {
        readonly parameters: {
            readonly query: {
                /** @description The length of a candle: 1m is a minute, 1M a month. */
                readonly timeframe: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "1d" | "1w" | "1M";
                /** @description The earliest, included. */
                readonly startTime?: string;
                /** @description The latest, included. */
                readonly endTime?: string;
                /** @description The maximum of items on a page. */
                readonly limit?: number;
                /** @description A linked account, whose broker's prices are read. Without it those of the operator's feed are, for the listed instruments. */
                readonly accountId?: string;
            };
            readonly path: {
                /** @description An instrument, in capitals; it matches whatever case the broker uses. */
                readonly symbol: string;
            };
        };
        readonly responses: {
            /** @description Oldest first. The current one is included. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description Oldest first. The current one is included. */
                        readonly data: readonly components["schemas"]["Candle"][];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly listTicks: {
        readonly parameters: {
            readonly query?: {
                /** @description The earliest, included. */
                readonly startTime?: string;
                /** @description The latest, included. */
                readonly endTime?: string;
                /** @description The maximum of items on a page. */
                readonly limit?: number;
                /** @description A linked account, whose broker's prices are read. Without it those of the operator's feed are, for the listed instruments. */
                readonly accountId?: string;
            };
            readonly path: {
                /** @description An instrument, in capitals; it matches whatever case the broker uses. */
                readonly symbol: string;
            };
        };
        readonly responses: {
            /** @description Oldest first. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description Oldest first. */
                        readonly data: readonly components["schemas"]["Tick"][];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly getMe: {
        readonly responses: {
            /** @description Who the caller is to the service. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Caller"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly listEvents: {
        readonly parameters: {
            readonly query?: {
                /** @description Only events of these types, separated by commas; without it all that the credential may read. */
                readonly types?: string;
                /** @description The id of a linked account. */
                readonly accountId?: string;
                /** @description Only events after this one. */
                readonly after?: string;
                /** @description Only events before this one; newest first. */
                readonly before?: string;
                /** @description Default: asc; desc when only `before` is given. */
                readonly order?: "asc" | "desc";
                /** @description The maximum of items on a page. */
                readonly limit?: number;
            };
        };
        readonly responses: {
            /** @description In the order of the page. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description In the order of the page. */
                        readonly data: readonly components["schemas"]["Event"][];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly pagination: components["schemas"]["ListPagination"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly streamEvents: {
        readonly parameters: {
            readonly query?: {
                /** @description Only events of these types, separated by commas; without it all that the credential may read. */
                readonly types?: string;
                /** @description The id of a linked account. */
                readonly accountId?: string;
                /** @description Begin with what follows this event. */
                readonly after?: string;
            };
        };
        readonly responses: {
            /** @description Streamed until it ends. */
            readonly 200: {
                content: {
                    readonly "text/event-stream": string;
                };
            };
        };
    };
    readonly listWebhooks: {
        readonly responses: {
            /** @description Oldest first. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description Oldest first. */
                        readonly data: readonly components["schemas"]["Webhook"][];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly createWebhook: {
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CreateWebhookRequest"];
            };
        };
        readonly responses: {
            /** @description A webhook with a new secret, which no other reply shows. */
            readonly 201: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["CreatedWebhook"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly getWebhook: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a webhook. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description Where which events are posted. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Webhook"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly changeWebhook: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a webhook. */
                readonly id: string;
            };
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ChangeWebhookRequest"];
            };
        };
        readonly responses: {
            /** @description Where which events are posted. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Webhook"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly deleteWebhook: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a webhook. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description A webhook that was deleted. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["DeletedWebhook"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly rotateWebhookSecret: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a webhook. */
                readonly id: string;
            };
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["RotateWebhookSecretRequest"];
            };
        };
        readonly responses: {
            /** @description A webhook with a new secret, which no other reply shows. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["CreatedWebhook"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly testWebhook: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a webhook. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description The receiver's answer to a test. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["WebhookTestResult"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly listWebhookDeliveries: {
        readonly parameters: {
            readonly query?: {
                /** @description Deliveries with this status. */
                readonly status?: "success" | "failed" | "pending";
                /** @description The page, counted from 1. */
                readonly page?: number;
                /** @description The maximum of items on a page. */
                readonly limit?: number;
            };
            readonly path: {
                /** @description The id of a webhook. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description Newest first. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description Newest first. */
                        readonly data: readonly components["schemas"]["Delivery"][];
                        /** @description About the reply. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, as sent or as generated (`req_…`). */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly pagination: components["schemas"]["Pagination"];
                        };
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly replayWebhookDelivery: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a webhook. */
                readonly id: string;
                /** @description The id of a delivery. */
                readonly deliveryId: string;
            };
        };
        readonly responses: {
            /** @description One record of the log of event deliveries. */
            readonly 201: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["Delivery"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly recoverWebhook: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a webhook. */
                readonly id: string;
            };
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RecoverWebhookRequest"];
            };
        };
        readonly responses: {
            /** @description What is delivered again. */
            readonly 202: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["WebhookRecovery"];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
}
