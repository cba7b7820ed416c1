// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// Ledger is what the sandbox's tokens have in common. Its owner gives tokens out and can shut addresses out.
abstract contract Ledger {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    mapping(address => uint256) public balanceOf; // the first slot: the node reads it
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => bool) internal shutOut;
    uint256 public totalSupply;
    string public name;
    string public symbol;
    uint8 public immutable decimals;
    address public immutable owner;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) {
        name = name_;
        symbol = symbol_;
        decimals = decimals_;
        owner = msg.sender;
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "caller is not the owner");
        _;
    }

    function mint(address[] calldata holders, uint256 each) external onlyOwner {
        totalSupply += each * holders.length;
        for (uint256 i = 0; i < holders.length; i++) {
            balanceOf[holders[i]] += each;
            emit Transfer(address(0), holders[i], each);
        }
    }

    function move(address from, address to, uint256 value) internal {
        require(balanceOf[from] >= value, "transfer amount exceeds balance");
        unchecked {
            balanceOf[from] -= value;
            balanceOf[to] += value;
        }
        emit Transfer(from, to, value);
    }

    function allow(address spender, uint256 value) internal {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }

    function spend(address from, uint256 value) internal {
        uint256 allowed = allowance[from][msg.sender];
        require(allowed >= value, "insufficient allowance");
        if (allowed != type(uint256).max) {
            allowance[from][msg.sender] = allowed - value;
        }
    }
}

// UsdtLike returns nothing from its transfers, stops only those whom an address on its list would send, and can take that
// address's tokens away without a Transfer, as Tether's contract on Ethereum does.
contract UsdtLike is Ledger {
    event AddedBlackList(address user);
    event RemovedBlackList(address user);
    event DestroyedBlackFunds(address user, uint256 value);

    constructor(string memory n, string memory s, uint8 d) Ledger(n, s, d) {}

    function transfer(address to, uint256 value) external {
        require(!shutOut[msg.sender]);
        move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        require(!shutOut[from]);
        spend(from, value);
        move(from, to, value);
    }

    function approve(address spender, uint256 value) external {
        require(value == 0 || allowance[msg.sender][spender] == 0);
        allow(spender, value);
    }

    function isBlackListed(address user) external view returns (bool) {
        return shutOut[user];
    }

    function addBlackList(address user) external onlyOwner {
        shutOut[user] = true;
        emit AddedBlackList(user);
    }

    function removeBlackList(address user) external onlyOwner {
        shutOut[user] = false;
        emit RemovedBlackList(user);
    }

    function destroyBlackFunds(address user) external onlyOwner {
        require(shutOut[user]);
        uint256 funds = balanceOf[user];
        balanceOf[user] = 0;
        totalSupply -= funds;
        emit DestroyedBlackFunds(user, funds);
    }
}

// UsdcLike returns true from its transfers, and lets an address on its list neither send nor receive, as Circle's contract does.
contract UsdcLike is Ledger {
    event Blacklisted(address indexed account);
    event UnBlacklisted(address indexed account);

    constructor(string memory n, string memory s, uint8 d) Ledger(n, s, d) {}

    modifier listed(address from, address to) {
        require(!shutOut[msg.sender] && !shutOut[from] && !shutOut[to], "Blacklistable: account is blacklisted");
        require(to != address(0), "ERC20: transfer to the zero address");
        _;
    }

    function transfer(address to, uint256 value) external listed(msg.sender, to) returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external listed(from, to) returns (bool) {
        spend(from, value);
        move(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allow(spender, value);
        return true;
    }

    function isBlacklisted(address account) external view returns (bool) {
        return shutOut[account];
    }

    function blacklist(address account) external onlyOwner {
        shutOut[account] = true;
        emit Blacklisted(account);
    }

    function unBlacklist(address account) external onlyOwner {
        shutOut[account] = false;
        emit UnBlacklisted(account);
    }
}

// Purse holds tokens and pays several addresses in one transaction, for whoever asks. One payment that fails undoes all.
contract Purse {
    function pay(address token, address[] calldata to, uint256[] calldata values) external {
        for (uint256 i = 0; i < to.length; i++) {
            (bool done, bytes memory said) = token.call(abi.encodeWithSignature("transfer(address,uint256)", to[i], values[i]));
            require(done && (said.length == 0 || abi.decode(said, (bool))), "a transfer failed");
        }
    }
}
