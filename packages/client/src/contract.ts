// Made from the API's document by `pnpm --filter @tradeport/contract run write`; a test holds it against the document. Not to be changed by hand.

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
}
export interface components {
    schemas: {
        /** @description A broker account that the user linked. */
        readonly Account: {
            /**
             * Format: uuid
             * @description The id by which orders and filters name it, as accountId.
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
             * @description Only accounts for trading take orders.
             * @enum {string}
             */
            readonly purpose: "trading" | "introducing_broker" | "trade_copier";
            /** @description True for a confirmed demo account alone; no other takes orders. */
            readonly isDemo: boolean;
            /** @description The currency of all money of the account. */
            readonly currency: string;
            /** @description Money in the account, without what open positions would bring. */
            readonly balance: number;
            /** @description Balance and the result of open positions. */
            readonly equity: number;
            /** @description Margin in use. */
            readonly margin: number;
            /** @description Margin that is free; null until a read of the broker told it. */
            readonly freeMargin: number | null;
            /** @description Equity in percent of the margin in use; null until a read of the broker told it. */
            readonly marginLevel: number | null;
            /** @description 100 stands for 1:100; null until a read of the broker told it. */
            readonly leverage: number | null;
            /**
             * @description Whether the broker can be read.
             * @enum {string}
             */
            readonly status: "connected" | "disconnected" | "syncing" | "error";
            /**
             * Format: date-time
             * @description When the figures were read from the broker; null where they are stored ones.
             */
            readonly liveDataUpdatedAt: string | null;
            /**
             * Format: date-time
             * @description The last good read from the broker, or createdAt where there was none.
             */
            readonly lastSyncAt: string;
            /**
             * Format: date-time
             * @description When it was linked.
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description When anything of it last changed.
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
                 * @description The account.
                 */
                readonly account_id: string;
                /** @description Before. */
                readonly previous_balance: number;
                /** @description After. */
                readonly new_balance: number;
                /** @description The difference. */
                readonly change_amount: number;
                /** @description The difference in percent of what was before. */
                readonly change_percentage: number;
                /** @description Balance and the result of open positions. */
                readonly equity: number;
                /** @description Margin in use. */
                readonly margin: number;
                /** @description Margin that is free. */
                readonly free_margin: number;
                /** @description Why. */
                readonly change_reason: string;
                /**
                 * Format: date-time
                 * @description When it changed.
                 */
                readonly changed_at: string;
                /** @description Equity in percent of the margin in use. */
                readonly margin_level?: number;
            };
            /**
             * Format: date-time
             * @description When it was sent.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The webhook.
             */
            readonly webhook_id: string;
        };
        /** @description What an account held at a moment. */
        readonly BalanceSnapshot: {
            /**
             * Format: date-time
             * @description The moment.
             */
            readonly timestamp: string;
            /** @description Money in the account. */
            readonly balance: number;
            /** @description Balance and the result of open positions. */
            readonly equity: number;
            /** @description Margin in use. */
            readonly margin: number;
            /** @description Margin that was free; null where it was not told. */
            readonly freeMargin: number | null;
        };
        readonly ChangeWebhookRequest: {
            /** @description Where to post events: https, on the public internet. */
            readonly url: string;
            /** @description Which events; each is taken once. */
            readonly eventTypes?: readonly ("trade.closed" | "position.opened" | "position.closed" | "order.created" | "order.filled" | "order.cancelled" | "account.balance_changed" | "risk.threshold_breached")[];
            /** @description Whether events are delivered to it. */
            readonly enabled?: boolean;
        } | {
            /** @description Where to post events: https, on the public internet. */
            readonly url?: string;
            /** @description Which events; each is taken once. */
            readonly eventTypes: readonly ("trade.closed" | "position.opened" | "position.closed" | "order.created" | "order.filled" | "order.cancelled" | "account.balance_changed" | "risk.threshold_breached")[];
            /** @description Whether events are delivered to it. */
            readonly enabled?: boolean;
        } | {
            /** @description Where to post events: https, on the public internet. */
            readonly url?: string;
            /** @description Which events; each is taken once. */
            readonly eventTypes?: readonly ("trade.closed" | "position.opened" | "position.closed" | "order.created" | "order.filled" | "order.cancelled" | "account.balance_changed" | "risk.threshold_breached")[];
            /** @description Whether events are delivered to it. */
            readonly enabled: boolean;
        };
        readonly ClosePositionRequest: {
            /** @description Lots to close, at most those that are open; all of them when left out. */
            readonly volume?: number;
        };
        /** @description What a close made of a position. */
        readonly ClosePositionResult: {
            /** @description The position that was closed, wholly or in part. */
            readonly id: string;
            /**
             * Format: uuid
             * @description The account it is on.
             */
            readonly accountId: string;
            /** @description The broker's ticket. */
            readonly brokerPositionId: string;
            /** @description The broker's number of the closing order; null where it told none. */
            readonly brokerOrderId: string | null;
            /** @description Lots that were closed. */
            readonly closedVolume: number;
            /** @description Lots that stay open; 0 where all was closed. */
            readonly remainingVolume: number;
            /** @description The id under which the rest is open from now on, where the broker gave it a new one. */
            readonly remainingPositionId?: string;
            /** @description Weighted by volume; null where the closing deal was not found straight after the close, or could be that of another close because the broker’s answer was lost; GET /trades tells it later. */
            readonly closePrice: number | null;
            /** @description Profit of the close, before commission and swap; null where the closing deal was not found straight after the close, or could be that of another close because the broker’s answer was lost; GET /trades tells it later. */
            readonly realizedPnl: number | null;
            /**
             * Format: date-time
             * @description When it was closed; null where the closing deal was not found straight after the close, or could be that of another close because the broker’s answer was lost; GET /trades tells it later.
             */
            readonly closedAt: string | null;
        };
        readonly CreateWebhookRequest: {
            /** @description Where to post events: https, on the public internet. */
            readonly url: string;
            /** @description Which events; each is taken once. */
            readonly eventTypes: readonly ("trade.closed" | "position.opened" | "position.closed" | "order.created" | "order.filled" | "order.cancelled" | "account.balance_changed" | "risk.threshold_breached")[];
            /** @description The key of the signatures; one of 64 hexadecimal characters is made where none is sent. */
            readonly secret?: string;
        };
        /** @description A webhook with its secret, which no other reply tells. */
        readonly CreatedWebhook: {
            /**
             * Format: uuid
             * @description Names it on other routes.
             */
            readonly id: string;
            /** @description Where it is told of events. */
            readonly url: string;
            /** @description The events that it is told of. */
            readonly eventTypes: readonly ("trade.closed" | "position.opened" | "position.closed" | "order.created" | "order.filled" | "order.cancelled" | "account.balance_changed" | "risk.threshold_breached")[];
            /** @description Nothing is delivered to one that is switched off. */
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
             * @description When it was registered.
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description When its user last changed it.
             */
            readonly updatedAt: string;
            /** @description The key of the signatures of what is sent to it. Keep it. */
            readonly secret: string;
        };
        /** @description Where a page stands among all, and how to get the next. */
        readonly CursorPagination: {
            /** @description The page, counted from 1. */
            readonly page: number;
            /** @description How many a page holds at most. */
            readonly limit: number;
            /** @description How many there are in all. */
            readonly total: number;
            /** @description How many pages there are; 0 where there is nothing. */
            readonly total_pages: number;
            /** @description Whether a page follows. */
            readonly has_next: boolean;
            /** @description Whether a page goes before. */
            readonly has_prev: boolean;
            /** @description Sent as cursor with the same filters it gives the next page; left out on the last. */
            readonly cursor?: string;
        };
        /** @description A webhook that is no more. */
        readonly DeletedWebhook: {
            /**
             * Format: uuid
             * @description Its id.
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
             * @description X-Webhook-Delivery-Id of all of its attempts.
             */
            readonly id: string;
            /**
             * Format: uuid
             * @description The webhook.
             */
            readonly webhookId: string;
            /**
             * @description The event.
             * @enum {string}
             */
            readonly eventType: "trade.closed" | "position.opened" | "position.closed" | "order.created" | "order.filled" | "order.cancelled" | "account.balance_changed" | "risk.threshold_breached";
            /**
             * @description pending while another attempt is to come.
             * @enum {string}
             */
            readonly status: "success" | "failed" | "pending";
            /** @description How many there were. */
            readonly attempts: number;
            /** @description The status of the last answer; 0 where there was none, null before the first attempt. */
            readonly responseCode: number | null;
            /** @description How long the last answer took, in milliseconds; null before the first attempt. */
            readonly responseTimeMs: number | null;
            /**
             * @description Why the last attempt failed; null where it did not.
             * @enum {string|null}
             */
            readonly failureReason: "host_unreachable" | "connection_failed" | "tls_failed" | "answer_broken" | "timed_out" | "not_2xx" | "gone" | "webhook_disabled" | "interrupted" | null;
            /**
             * Format: date-time
             * @description When the event was recorded.
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description When the last attempt began; null before the first.
             */
            readonly lastAttemptAt: string | null;
            /**
             * Format: date-time
             * @description When the next attempt is due; null once it is not pending any more.
             */
            readonly nextAttemptAt: string | null;
            /**
             * Format: uuid
             * @description The delivery that this one sends again; null where it is no replay.
             */
            readonly replayOf: string | null;
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
            /** @description Of forex pairs alone. */
            readonly baseCurrency?: string;
            /** @description Of forex pairs alone. */
            readonly quoteCurrency?: string;
        };
        /** @description What is told of a reply beside its data. */
        readonly Meta: {
            /**
             * Format: date-time
             * @description When the reply was made.
             */
            readonly timestamp: string;
            /** @description The id of the request, which X-Request-ID tells as well. */
            readonly request_id: string;
            /**
             * @description The version of the API.
             * @enum {string}
             */
            readonly version: "1.0.0";
        };
        readonly ModifyOrderRequest: {
            /** @description Recorded on the order, not sent to the broker. */
            readonly price: number;
            /** @description A price. */
            readonly stopLoss?: number;
            /** @description A price. */
            readonly takeProfit?: number;
        } | {
            /** @description Recorded on the order, not sent to the broker. */
            readonly price?: number;
            /** @description A price. */
            readonly stopLoss: number;
            /** @description A price. */
            readonly takeProfit?: number;
        } | {
            /** @description Recorded on the order, not sent to the broker. */
            readonly price?: number;
            /** @description A price. */
            readonly stopLoss?: number;
            /** @description A price. */
            readonly takeProfit: number;
        };
        readonly MoveLevelRequest: {
            /** @description The new price. */
            readonly value: number;
        };
        /** @description A market order, from its being recorded to what the broker made of it. */
        readonly Order: {
            /** @description ord_ and an opaque suffix. */
            readonly id: string;
            /** @description Whose it is. */
            readonly userId: string;
            /**
             * Format: uuid
             * @description The account it is for.
             */
            readonly accountId: string;
            /** @description The instrument, as it was sent. */
            readonly symbol: string;
            /**
             * @description Its side.
             * @enum {string}
             */
            readonly type: "buy" | "sell";
            /**
             * @description Only market orders are placed today.
             * @enum {string}
             */
            readonly orderType: "market";
            /** @description Lots. */
            readonly volume: number;
            /** @description As it was sent; it does not reach the broker. */
            readonly price?: number;
            /** @description As it was sent. */
            readonly stopLoss?: number;
            /** @description As it was sent. */
            readonly takeProfit?: number;
            /** @description As it was sent. */
            readonly comment?: string;
            /** @description The caller's own reference, as it was sent. */
            readonly clientId?: string;
            /**
             * @description pending until the broker decides, then filled, partially_filled or rejected. No order is open, cancelled or expired today.
             * @enum {string}
             */
            readonly status: "pending" | "open" | "filled" | "partially_filled" | "cancelled" | "rejected" | "expired";
            /** @description The price of the execution, where the broker told it. */
            readonly fillPrice?: number;
            /** @description Lots that were executed, where the broker told it. */
            readonly filledVolume?: number;
            /**
             * Format: date-time
             * @description When it was executed, where the broker told it.
             */
            readonly filledAt?: string;
            /** @description The position that it made, as GET /positions/{id} takes it. */
            readonly positionId?: string;
            /** @description Why it was rejected. */
            readonly rejectReason?: {
                /** @description BROKER_UNAVAILABLE, NOT_FOUND_AT_BROKER, SYMBOL_NOT_FOUND, VALIDATION; LIVE_ACCOUNT_RESTRICTED, ACCOUNT_PURPOSE_RESTRICTED, ACCOUNT_NOT_FOUND, NOT_PROVISIONED or UNSUPPORTED_BROKER where the account turned out to be so before it was sent; FINISHED_BY_OPERATOR where an operator ended it; or ORDER_STATE_ and the state in which the broker ended it; any other is the broker's. */
                readonly code: string;
                /** @description The same in words. */
                readonly message: string;
            };
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description When its status last changed.
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
                /** @description The order. */
                readonly order_id: string;
                /**
                 * Format: uuid
                 * @description The account.
                 */
                readonly account_id: string;
                /** @description The instrument. */
                readonly symbol: string;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /**
                 * @description Only market orders are placed.
                 * @enum {string}
                 */
                readonly order_type: "market";
                /** @description Lots. */
                readonly volume: number;
                /**
                 * Format: date-time
                 * @description When it was cancelled.
                 */
                readonly cancelled_at: string;
                /** @description Why, where it is known. */
                readonly cancel_reason?: string;
            };
            /**
             * Format: date-time
             * @description When it was sent.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The webhook.
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
                /** @description The order. */
                readonly order_id: string;
                /**
                 * Format: uuid
                 * @description The account.
                 */
                readonly account_id: string;
                /** @description The instrument. */
                readonly symbol: string;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /**
                 * @description Only market orders are placed.
                 * @enum {string}
                 */
                readonly order_type: "market";
                /** @description Lots. */
                readonly volume: number;
                /**
                 * Format: date-time
                 * @description When it was recorded.
                 */
                readonly created_at: string;
                /** @description As it was sent. */
                readonly price?: number;
                /** @description As it was sent. */
                readonly stop_loss?: number;
                /** @description As it was sent. */
                readonly take_profit?: number;
                /** @description The caller's own reference. */
                readonly client_id?: string;
            };
            /**
             * Format: date-time
             * @description When it was sent.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The webhook.
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
                /** @description The order. */
                readonly order_id: string;
                /**
                 * Format: uuid
                 * @description The account.
                 */
                readonly account_id: string;
                /** @description The instrument. */
                readonly symbol: string;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /**
                 * @description Only market orders are placed.
                 * @enum {string}
                 */
                readonly order_type: "market";
                /** @description Lots. */
                readonly volume: number;
                /** @description The price of the execution; null where the broker did not tell it. */
                readonly fill_price: number | null;
                /** @description Lots that were executed; null where the broker did not tell of a partial execution how many. */
                readonly filled_volume: number | null;
                /**
                 * Format: date-time
                 * @description When it was executed, or known to be.
                 */
                readonly filled_at: string;
                /** @description As it was sent. */
                readonly requested_price?: number;
                /** @description What the execution cost, where it is known. */
                readonly fees?: number;
                /** @description The position, as GET /positions/{id} takes it. */
                readonly position_id?: string;
            };
            /**
             * Format: date-time
             * @description When it was sent.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The webhook.
             */
            readonly webhook_id: string;
        };
        /** @description Where a page stands among all. */
        readonly Pagination: {
            /** @description The page, counted from 1. */
            readonly page: number;
            /** @description How many a page holds at most. */
            readonly limit: number;
            /** @description How many there are in all. */
            readonly total: number;
            /** @description How many pages there are; 0 where there is nothing. */
            readonly total_pages: number;
            /** @description Whether a page follows. */
            readonly has_next: boolean;
            /** @description Whether a page goes before. */
            readonly has_prev: boolean;
        };
        readonly PlaceOrderRequest: {
            /**
             * Format: uuid
             * @description A linked demo account for trading.
             */
            readonly accountId: string;
            /** @description The instrument. */
            readonly symbol: string;
            /**
             * @description The side.
             * @enum {string}
             */
            readonly type: "buy" | "sell";
            /**
             * @description limit, stop and stop_limit are ORDER_TYPE_NOT_SUPPORTED.
             * @enum {string}
             */
            readonly orderType: "market";
            /** @description Lots. More are RISK_LIMIT_EXCEEDED. */
            readonly volume: number;
            /** @description Recorded on the order, not sent to the broker. */
            readonly price?: number;
            /** @description A price. */
            readonly stopLoss?: number;
            /** @description A price. */
            readonly takeProfit?: number;
            /** @description For its user; it does not reach the broker. */
            readonly comment?: string;
            /** @description The caller's own reference, which the order tells again. */
            readonly clientId?: string;
        };
        /** @description An open position, as its broker has it. */
        readonly Position: {
            /** @description Names it on other routes: pass it on unchanged. */
            readonly id: string;
            /** @description Whose it is. */
            readonly userId: string;
            /**
             * Format: uuid
             * @description The account it is on.
             */
            readonly accountId: string;
            /** @description The broker's ticket. */
            readonly brokerPositionId: string;
            /** @description The instrument, as the broker spells it. */
            readonly symbol: string;
            /**
             * @description Its direction.
             * @enum {string}
             */
            readonly type: "buy" | "sell";
            /** @description Lots that are open. */
            readonly volume: number;
            /** @description The price at which it was opened. */
            readonly entryPrice: number;
            /** @description The price at which it would be closed now. */
            readonly currentPrice: number;
            /** @description Left out where it has none. */
            readonly stopLoss?: number;
            /** @description Left out where it has none. */
            readonly takeProfit?: number;
            /** @description Charges are negative. */
            readonly swap: number;
            /** @description Charges are negative. */
            readonly commission: number;
            /** @description Of the open volume, before swap and commission. */
            readonly unrealizedPnl: number;
            /** @description Of what was closed of it so far. */
            readonly realizedPnl: number;
            /** @description Margin that the broker requires for it at its opening price; null where the provider could not compute it. */
            readonly marginUsed: number | null;
            /**
             * Format: date-time
             * @description When it was opened.
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
                /** @description The position, as GET /positions/{id} takes it. */
                readonly position_id: string;
                /**
                 * Format: uuid
                 * @description The account.
                 */
                readonly account_id: string;
                /** @description The instrument. */
                readonly symbol: string;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /** @description Lots that were closed. */
                readonly closed_volume: number;
                /** @description Lots that stay open. */
                readonly remaining_volume: number;
                /** @description The price at which it was opened. */
                readonly entry_price: number;
                /** @description Null where the closing deal was not found in time. */
                readonly exit_price: number | null;
                /** @description Before commission and swap; null where the closing deal was not found in time. */
                readonly realized_pnl: number | null;
                /** @description Whether a part stays open. */
                readonly is_partial: boolean;
                /**
                 * Format: date-time
                 * @description When it was closed.
                 */
                readonly closed_at: string;
                /** @description Why, where it is known. */
                readonly exit_reason?: string;
            };
            /**
             * Format: date-time
             * @description When it was sent.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The webhook.
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
                /** @description The position, as GET /positions/{id} takes it. */
                readonly position_id: string;
                /**
                 * Format: uuid
                 * @description The account.
                 */
                readonly account_id: string;
                /** @description The instrument. */
                readonly symbol: string;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /** @description Lots. */
                readonly volume: number;
                /** @description The price at which it was opened. */
                readonly entry_price: number;
                /** @description Margin that it requires; null where it is not known. */
                readonly margin_used: number | null;
                /**
                 * Format: date-time
                 * @description When it was opened.
                 */
                readonly opened_at: string;
                /** @description A price. */
                readonly stop_loss?: number;
                /** @description A price. */
                readonly take_profit?: number;
            };
            /**
             * Format: date-time
             * @description When it was sent.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The webhook.
             */
            readonly webhook_id: string;
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
                 * @description The account.
                 */
                readonly account_id: string;
                /** @description What the threshold is of. */
                readonly threshold_type: string;
                /** @description Where it lies. */
                readonly threshold_value: unknown;
                /** @description What is there now. */
                readonly current_value: unknown;
                /** @description How grave it is. */
                readonly severity: string;
                /** @description The same for a person. */
                readonly message: string;
                /**
                 * Format: date-time
                 * @description When it was breached.
                 */
                readonly breached_at: string;
                /** @description The positions that it is about. */
                readonly affected_positions?: unknown;
            };
            /**
             * Format: date-time
             * @description When it was sent.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The webhook.
             */
            readonly webhook_id: string;
        };
        /** @description A position whose whole volume is closed, folded from all of its deals. */
        readonly Trade: {
            /** @description Names it on GET /trades/{id}. */
            readonly id: string;
            /** @description Whose it is. */
            readonly userId: string;
            /**
             * Format: uuid
             * @description The account it was made on.
             */
            readonly accountId: string;
            /** @description The broker's ticket of the position. */
            readonly positionId: string;
            /** @description The instrument, as the broker spells it. */
            readonly symbol: string;
            /**
             * @description Its direction.
             * @enum {string}
             */
            readonly type: "buy" | "sell";
            /** @description Lots. */
            readonly volume: number;
            /** @description Weighted by volume. */
            readonly entryPrice: number;
            /** @description Weighted by volume. */
            readonly exitPrice: number;
            /** @description Over all deals; charges are negative. */
            readonly swap: number;
            /** @description Over all deals; charges are negative. */
            readonly commission: number;
            /** @description Over all deals, before commission and swap. */
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
            /** @description True where a closing deal told no volume, and volume is the volume that was opened; else left out. */
            readonly volumeEstimated?: boolean;
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
                /** @description The trade, as GET /trades/{id} takes it. */
                readonly trade_id: string;
                /** @description The position, as GET /positions/{id} takes it. */
                readonly position_id: string;
                /**
                 * Format: uuid
                 * @description The account.
                 */
                readonly account_id: string;
                /** @description The instrument. */
                readonly symbol: string;
                /**
                 * @description The direction.
                 * @enum {string}
                 */
                readonly type: "buy" | "sell";
                /** @description Lots. */
                readonly volume: number;
                /** @description Weighted by volume. */
                readonly entry_price: number;
                /** @description Weighted by volume. */
                readonly exit_price: number;
                /** @description Before commission and swap. */
                readonly profit: number;
                /** @description How far the price went the trade's way, in percent of entry_price. */
                readonly profit_percentage: number;
                /** @description Charges are negative. */
                readonly swap: number;
                /** @description Charges are negative. */
                readonly commission: number;
                /** @description Whole seconds from opened_at to closed_at. */
                readonly holding_time_seconds: number;
                /**
                 * Format: date-time
                 * @description When it was opened.
                 */
                readonly opened_at: string;
                /**
                 * Format: date-time
                 * @description When it was closed.
                 */
                readonly closed_at: string;
            };
            /**
             * Format: date-time
             * @description When it was sent.
             */
            readonly timestamp: string;
            /**
             * Format: uuid
             * @description The webhook.
             */
            readonly webhook_id: string;
        };
        /** @description The trades without the envelope. */
        readonly TradeExport: {
            /** @description Most recently closed first. */
            readonly trades: readonly components["schemas"]["Trade"][];
            readonly provenance: components["schemas"]["TradeProvenance"];
        };
        /** @description Where the trades come from, and what could not be made one. */
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
                 * @description The account it is on.
                 */
                readonly accountId: string;
                /** @description The broker's ticket. */
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
            /** @description With a net profit above 0. */
            readonly winningTrades: number;
            /** @description With a net profit of 0 or below. */
            readonly losingTrades: number;
            /** @description Winning trades in percent of all. */
            readonly winRate: number;
            /** @description totalProfit over totalLoss; null where there is profit and no loss, 0 where there is neither. */
            readonly profitFactor: number | null;
            /** @description Of the winning trades. */
            readonly averageWin: number;
            /** @description Of the losing trades. */
            readonly averageLoss: number;
            /** @description The best trade. */
            readonly largestWin: number;
            /** @description The worst trade. */
            readonly largestLoss: number;
            /** @description Of the winning trades. */
            readonly totalProfit: number;
            /** @description Of the losing trades. */
            readonly totalLoss: number;
            /** @description totalProfit less totalLoss. */
            readonly netProfit: number;
            /** @description The mean trade over its standard deviation, per trade, not annualised; 0 below two trades. */
            readonly sharpeRatio: number;
            /** @description The deepest fall of the summed net profit from a peak, in money. */
            readonly maxDrawdown: number;
            /** @description How far the figures can be trusted. */
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
        };
        /** @description Something to know of the figures. */
        readonly Warning: {
            /**
             * @description The accounts are of several currencies, whose figures were added up as they are.
             * @enum {string}
             */
            readonly code: "mixed_currencies";
            /** @description Those of the accounts. */
            readonly currencies: readonly string[];
            /** @description The same for a person. */
            readonly message: string;
        };
        /** @description Where a user wants to be told of which events. */
        readonly Webhook: {
            /**
             * Format: uuid
             * @description Names it on other routes.
             */
            readonly id: string;
            /** @description Where it is told of events. */
            readonly url: string;
            /** @description The events that it is told of. */
            readonly eventTypes: readonly ("trade.closed" | "position.opened" | "position.closed" | "order.created" | "order.filled" | "order.cancelled" | "account.balance_changed" | "risk.threshold_breached")[];
            /** @description Nothing is delivered to one that is switched off. */
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
             * @description When it was registered.
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description When its user last changed it.
             */
            readonly updatedAt: string;
        };
        /** @description How the receiver answered a test. */
        readonly WebhookTestResult: {
            /** @description Whether it answered with a 2xx. */
            readonly success: boolean;
            /** @description The status that it answered; 0 where it did not. */
            readonly responseCode: number;
            /** @description Milliseconds from the first byte sent to the answer's head. */
            readonly responseTimeMs: number;
        };
    };
}
export interface operations {
    readonly listAccounts: {
        readonly responses: {
            /** @description Oldest first; empty where none is linked. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description Oldest first; empty where none is linked. */
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
                /** @description The earliest snapshot. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly startDate?: string;
                /** @description The latest snapshot. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly endDate?: string;
                /** @description Caps the count: 1h at 168, 1d at 365, 1w at 104. Nothing is aggregated. Takes one of 1h, 1d, 1w. */
                readonly interval?: "1h" | "1d" | "1w";
            };
            readonly path: {
                /** @description The id of a linked account. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description Newest first; empty where there is none. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description Newest first; empty where there is none. */
                        readonly data: readonly components["schemas"]["BalanceSnapshot"][];
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
                /** @description The id of a linked account. Takes the UUID of a linked account. */
                readonly accountId?: string;
                /** @description Orders of one status. Takes one of pending, open, filled, partially_filled, cancelled, rejected, expired. */
                readonly status?: "pending" | "open" | "filled" | "partially_filled" | "cancelled" | "rejected" | "expired";
                /** @description The symbol as it stands on the order. Takes a symbol in capitals: 1 to 32 of A-Z 0-9 . _ # -. */
                readonly symbol?: string;
                /** @description The earliest creation, included. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly startDate?: string;
                /** @description The latest creation, included. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly endDate?: string;
                /** @description The page, counted from 1. Takes a whole number from 1 to 1000000, in digits. */
                readonly page?: number;
                /** @description How many to answer at most. Takes a whole number from 1 to 100, in digits. */
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
                        /** @description What is told of the reply beside its data. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, which X-Request-ID tells as well. */
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
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PlaceOrderRequest"];
            };
        };
        readonly responses: {
            /** @description A market order, from its being recorded to what the broker made of it. */
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
    readonly getOrder: {
        readonly parameters: {
            readonly path: {
                /** @description The id of an order, as it was given when it was placed. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description A market order, from its being recorded to what the broker made of it. */
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
                /** @description The id of an order, as it was given when it was placed. */
                readonly id: string;
            };
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ModifyOrderRequest"];
            };
        };
        readonly responses: {
            /** @description A market order, from its being recorded to what the broker made of it. */
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
                /** @description The id of an order, as it was given when it was placed. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description A market order, from its being recorded to what the broker made of it. */
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
                /** @description The id of a linked account. Takes the UUID of a linked account. */
                readonly accountId?: string;
                /** @description An instrument, in capitals; the case in which the broker spells it does not count. Takes 1 to 32 visible characters with letters in capitals, such as EURUSD. */
                readonly symbol?: string;
                /** @description The page, counted from 1. Takes a whole number from 1 to 1000000, in digits. */
                readonly page?: number;
                /** @description How many to answer at most. Takes a whole number from 1 to 100, in digits. */
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
                        /** @description What is told of the reply beside its data. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, which X-Request-ID tells as well. */
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
                /** @description The id of a position, as a list gives it. */
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
                        /** @description What is told of the reply beside its data. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, which X-Request-ID tells as well. */
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
                /** @description The id of a position, as a list gives it. */
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
                        /** @description What is told of the reply beside its data. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, which X-Request-ID tells as well. */
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
                /** @description The id of a position, as a list gives it. */
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
                        /** @description What is told of the reply beside its data. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, which X-Request-ID tells as well. */
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
                /** @description The id of a position, as a list gives it. */
                readonly id: string;
            };
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ClosePositionRequest"];
            };
        };
        readonly responses: {
            /** @description What a close made of a position. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        readonly data: components["schemas"]["ClosePositionResult"];
                        /** @description What is told of the reply beside its data. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, which X-Request-ID tells as well. */
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
                /** @description The id of a linked account. Takes the UUID of a linked account. */
                readonly accountId?: string;
                /** @description An instrument, in capitals; the case in which the broker spells it does not count. Takes 1 to 32 visible characters with letters in capitals, such as EURUSD. */
                readonly symbol?: string;
                /** @description The earliest close, included. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly startDate?: string;
                /** @description The latest close, included. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly endDate?: string;
                /** @description Trades with a net profit above 0 (profit), of 0 or below (loss), or all. Takes one of profit, loss, all. */
                readonly profitFilter?: "profit" | "loss" | "all";
                /** @description How many to answer at most. Takes a whole number from 1 to 100, in digits. */
                readonly limit?: number;
                /** @description meta.pagination.cursor of the previous page, with the same filters. */
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
                        /** @description What is told of the reply beside its data. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, which X-Request-ID tells as well. */
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
                /** @description The id of a linked account. Takes the UUID of a linked account. */
                readonly accountId?: string;
                /** @description An instrument, in capitals; the case in which the broker spells it does not count. Takes 1 to 32 visible characters with letters in capitals, such as EURUSD. */
                readonly symbol?: string;
                /** @description The earliest close, included. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly startDate?: string;
                /** @description The latest close, included. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly endDate?: string;
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
                        /** @description What is told of the reply beside its data. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, which X-Request-ID tells as well. */
                            readonly request_id: string;
                            /**
                             * @description The version of the API.
                             * @enum {string}
                             */
                            readonly version: "1.0.0";
                            readonly provenance: components["schemas"]["TradeProvenance"];
                            /** @description Left out where there is none. */
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
                /** @description The id of a linked account. Takes the UUID of a linked account. */
                readonly accountId?: string;
                /** @description An instrument, in capitals; the case in which the broker spells it does not count. Takes 1 to 32 visible characters with letters in capitals, such as EURUSD. */
                readonly symbol?: string;
                /** @description The earliest close, included. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly startDate?: string;
                /** @description The latest close, included. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly endDate?: string;
                /** @description Trades with a net profit above 0 (profit), of 0 or below (loss), or all. Takes one of profit, loss, all. */
                readonly profitFilter?: "profit" | "loss" | "all";
                /** @description The format of the file. Takes one of csv, json. */
                readonly format?: "csv" | "json";
            };
        };
        readonly responses: {
            /** @description The file. */
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
                /** @description The id of a trade, as a list gives it. */
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
                        /** @description What is told of the reply beside its data. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, which X-Request-ID tells as well. */
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
                /** @description Instruments of one type. Takes one of forex, metal, commodity, index, stock. */
                readonly type?: "forex" | "metal" | "commodity" | "index" | "stock";
                /** @description Text in the symbol or the description, in any case. Takes 1 to 50 characters. */
                readonly search?: string;
            };
        };
        readonly responses: {
            /** @description In the order of the fixed list. */
            readonly 200: {
                content: {
                    readonly "application/json": {
                        /**
                         * @description It was done.
                         * @enum {boolean}
                         */
                        readonly success: true;
                        /** @description In the order of the fixed list. */
                        readonly data: readonly components["schemas"]["Instrument"][];
                        readonly meta: components["schemas"]["Meta"];
                        readonly error: null;
                    };
                };
            };
        };
    };
    readonly getQuote: {
        readonly parameters: {
            readonly path: {
                /** @description An instrument, in capitals; the case in which the broker spells it does not count. */
                readonly symbol: string;
            };
        };
    };
    readonly listCandles: {
        readonly parameters: {
            readonly query: {
                /** @description The length of a candle. Takes one of 1m, 5m, 15m, 30m, 1h, 4h, 1d, 1w, 1M. */
                readonly timeframe: "1m" | "5m" | "15m" | "30m" | "1h" | "4h" | "1d" | "1w" | "1M";
                /** @description The earliest, included. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly startTime?: string;
                /** @description The latest, included. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly endTime?: string;
                /** @description How many to answer at most. Takes a whole number from 1 to 1000, in digits. */
                readonly limit?: number;
            };
            readonly path: {
                /** @description An instrument, in capitals; the case in which the broker spells it does not count. */
                readonly symbol: string;
            };
        };
    };
    readonly listTicks: {
        readonly parameters: {
            readonly query?: {
                /** @description The earliest, included. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly startTime?: string;
                /** @description The latest, included. Takes an ISO 8601 date or date-time, such as 2026-01-31 or 2026-01-31T09:30:00Z (write a + as %2B). */
                readonly endTime?: string;
                /** @description How many to answer at most. Takes a whole number from 1 to 10000, in digits. */
                readonly limit?: number;
            };
            readonly path: {
                /** @description An instrument, in capitals; the case in which the broker spells it does not count. */
                readonly symbol: string;
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
            /** @description A webhook with its secret, which no other reply tells. */
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
            /** @description Where a user wants to be told of which events. */
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
            /** @description Where a user wants to be told of which events. */
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
            /** @description A webhook that is no more. */
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
    readonly testWebhook: {
        readonly parameters: {
            readonly path: {
                /** @description The id of a webhook. */
                readonly id: string;
            };
        };
        readonly responses: {
            /** @description How the receiver answered a test. */
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
                /** @description Deliveries of one status. Takes one of success, failed, pending. */
                readonly status?: "success" | "failed" | "pending";
                /** @description The page, counted from 1. Takes a whole number from 1 to 1000000, in digits. */
                readonly page?: number;
                /** @description How many to answer at most. Takes a whole number from 1 to 100, in digits. */
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
                        /** @description What is told of the reply beside its data. */
                        readonly meta: {
                            /**
                             * Format: date-time
                             * @description When the reply was made.
                             */
                            readonly timestamp: string;
                            /** @description The id of the request, which X-Request-ID tells as well. */
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
    readonly getOpenApiDocument: {
        readonly responses: {
            /** @description This document. */
            readonly 200: {
                content: {
                    readonly "application/json": Record<string, never>;
                };
            };
        };
    };
}
