<?php

declare(strict_types=1);

// What the plugin calls of WordPress and WooCommerce, in memory. Their behaviour is that of WooCommerce 9.9.5:
// includes/class-wc-order.php (payment_complete, update_status, is_paid) and
// includes/abstracts/abstract-wc-payment-gateway.php. Orders are stored copies, so that what is not saved is not there.

const ABSPATH = '/';
const DB_NAME = 'shop';

final class Shop
{
    /** @var array<int, array<string, mixed>> */
    public static $orders = [];
    /** @var array<string, mixed> */
    public static $options = [];
    /** @var array<string, true> */
    public static $locks = [];
    /** @var list<string> */
    public static $notices = [];
    /** @var list<string> */
    public static $log = [];
    /** @var bool whether payment_complete fails, as where a hook of it throws: it catches that and returns false */
    public static $failing = false;

    public static function reset(): void
    {
        self::$failing = false;
        [self::$orders, self::$options, self::$locks, self::$notices, self::$log] = [[], [], [], [], []];
    }
}

class WC_Order
{
    private $id;
    private $data;

    public function __construct(int $id)
    {
        $this->id = $id;
        $this->data = Shop::$orders[$id];
    }

    public static function create(array $data): self
    {
        $id = count(Shop::$orders) + 1;
        Shop::$orders[$id] = $data + ['status' => 'pending', 'total' => '20.00', 'currency' => 'EUR', 'meta' => [],
            'notes' => [], 'key' => "wc_order_$id", 'transaction' => '', 'method' => 'bursar', 'completed' => 0];
        return new self($id);
    }

    public function get_id() { return $this->id; }
    public function get_order_number() { return (string) $this->id; }
    public function get_order_key() { return $this->data['key']; }
    public function get_total() { return $this->data['total']; }
    public function get_currency() { return $this->data['currency']; }
    public function get_payment_method() { return $this->data['method']; }
    public function get_transaction_id() { return $this->data['transaction']; }
    public function set_transaction_id($id) { $this->data['transaction'] = $id; }
    public function get_status() { return $this->data['status']; }
    public function has_status($status) { return in_array($this->data['status'], (array) $status, true); }
    public function is_paid() { return $this->has_status(['processing', 'completed']); }
    public function get_meta($name) { return $this->data['meta'][$name] ?? ''; }
    public function update_meta_data($name, $value) { $this->data['meta'][$name] = $value; }
    public function delete_meta_data($name) { unset($this->data['meta'][$name]); }
    public function read_meta_data($force = false) { $this->data['meta'] = Shop::$orders[$this->id]['meta']; }
    public function get_checkout_payment_url() { return "https://shop.example/pay/$this->id"; }

    public function add_order_note($text)
    {
        Shop::$orders[$this->id]['notes'][] = $text; // a note is a row of its own
        $this->data['notes'] = Shop::$orders[$this->id]['notes'];
    }

    public function update_status($status, $note = '')
    {
        $this->data['status'] = $status;
        $this->add_order_note($note);
        $this->save();
    }

    public function payment_complete($transaction = '')
    {
        if (Shop::$failing) {
            return false;
        }
        if ($this->has_status(['on-hold', 'pending', 'failed', 'cancelled'])) {
            $this->data['transaction'] = $transaction;
            $this->data['status'] = 'processing';
            $this->data['completed']++;
            $this->save();
        }
        return true;
    }

    public function save()
    {
        $this->data['notes'] = Shop::$orders[$this->id]['notes'];
        Shop::$orders[$this->id] = $this->data;
    }
}

abstract class WC_Payment_Gateway
{
    public $id;
    public $title;
    public $description;
    public $supports = [];
    public $form_fields = [];
    public $settings = [];
    public $enabled = 'yes';
    public $method_title;
    public $method_description;
    public $has_fields;

    public function init_settings() { $this->settings = Shop::$options["woocommerce_{$this->id}_settings"] ?? []; }
    public function get_option($name) { return $this->settings[$name] ?? ($this->form_fields[$name]['default'] ?? ''); }
    public function get_return_url($order) { return 'https://shop.example/thanks/' . $order->get_id(); }
    public function is_available() { return $this->enabled === 'yes'; }
    public function can_refund_order($order) { return $order && in_array('refunds', $this->supports, true); }
    public function process_admin_options() { return true; }
}

class WP_Error
{
    private $message;

    public function __construct($code, $message) { $this->message = $message; }
    public function get_error_message() { return $this->message; }
}

final class FakeDatabase
{
    public $prefix = 'wp_';

    public function prepare($query, ...$values) { return [$query, $values]; }

    public function get_var($prepared)
    {
        if (isset(Shop::$locks[$prepared[1][0]])) {
            return '0';
        }
        Shop::$locks[$prepared[1][0]] = true;
        return '1';
    }

    public function query($prepared) { unset(Shop::$locks[$prepared[1][0]]); }
}

final class FakeLogger
{
    public function warning($text, $context = []) { Shop::$log[] = $text; }
    public function error($text, $context = []) { Shop::$log[] = $text; }
}

final class FakeCommerce
{
    public function api_request_url($name) { return "https://shop.example/wc-api/$name/"; }
}

$wpdb = new FakeDatabase();

function WC() { return new FakeCommerce(); }
function wc_get_order($id) { return isset(Shop::$orders[$id]) ? new WC_Order((int) $id) : false; }
function wc_get_price_decimals() { return 2; }
function wc_format_decimal($number, $places) { return number_format((float) $number, $places, '.', ''); }
function wc_get_logger() { return new FakeLogger(); }
function wc_add_notice($text, $kind) { Shop::$notices[] = $text; }
function wp_json_encode($value) { return json_encode($value); }
function get_option($name, $default) { return Shop::$options[$name] ?? $default; }
function add_action($name, $act) { }
function __($text, $domain) { return $text; }
