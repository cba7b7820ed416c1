// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

// A contract that passes coins on in every way a contract can.
contract Payer {
    receive() external payable {}

    function pay(address payable[] calldata to, uint256[] calldata value) public payable {
        for (uint256 i = 0; i < to.length; i++) {
            (bool ok, ) = to[i].call{value: value[i]}("");
            require(ok);
        }
    }

    // Pays and then fails: nothing is delivered.
    function payAndFail(address payable to) external payable {
        (bool ok, ) = to.call{value: msg.value}("");
        require(!ok, "after the payment");
    }

    // Lets a call below it pay and fail, and succeeds itself.
    function payBelowFailure(address payable to) external payable {
        try this.payAndFail{value: msg.value}(to) {} catch {}
    }

    // Fails once, then pays through a further call.
    function payAfterFailure(address payable to) external payable {
        try this.payAndFail{value: msg.value}(to) {} catch {}
        address payable[] memory receivers = new address payable[](1);
        uint256[] memory values = new uint256[](1);
        (receivers[0], values[0]) = (to, msg.value);
        this.pay{value: msg.value}(receivers, values);
    }

    // Pays from within its own code run by another of its kind.
    function payByDelegate(Payer other, address payable[] calldata to, uint256[] calldata value) external payable {
        (bool ok, ) = address(other).delegatecall(abi.encodeWithSelector(this.pay.selector, to, value));
        require(ok);
    }

    // Pays by the end of a contract.
    function payByEnd(address payable to) external payable {
        new Ending{value: msg.value}(to);
    }
}

contract Ending {
    constructor(address payable to) payable {
        selfdestruct(to);
    }
}
